"""What the page on LlamaIndex calls the same can be imported from where it says."""

from __future__ import annotations

from importlib import import_module

import pytest

NAMES = {
    "responsa": """get_response_synthesizer ResponseMode Settings BaseSynthesizer PromptTemplate ChatPromptTemplate
        SelectorPromptTemplate RichPromptTemplate PromptHelper ChatPromptHelper Response StreamingResponse
        AsyncStreamingResponse Document NodeWithScore QueryBundle TextNode RetrieverQueryEngine VectorStoreIndex
        SimpleDirectoryReader""",
    "responsa.response_synthesizers": """get_response_synthesizer ResponseMode BaseSynthesizer Refine CompactAndRefine
        TreeSummarize SimpleSummarize Accumulate CompactAndAccumulate Generation NoText ContextOnly""",
    "responsa.prompts": """BasePromptTemplate PromptTemplate ChatPromptTemplate SelectorPromptTemplate
        RichPromptTemplate PromptType""",
    "responsa.prompts.mixin": "PromptMixin PromptDictType",
    "responsa.indices.prompt_helper": "PromptHelper ChatPromptHelper",
    "responsa.base.response.schema": "Response StreamingResponse AsyncStreamingResponse PydanticResponse RESPONSE_TYPE",
    "responsa.base.llms.types": """ChatMessage MessageRole TextBlock ImageBlock CompletionResponse ChatResponse
        CompletionResponseGen ChatResponseGen CompletionResponseAsyncGen ChatResponseAsyncGen LLMMetadata""",
    "responsa.llms": "ChatMessage MessageRole TextBlock ImageBlock CompletionResponse ChatResponse LLMMetadata LLM CustomLLM",
    "responsa.llms.openai_like": "OpenAILike",
    "responsa.embeddings.openai_like": "OpenAILikeEmbedding",
    "responsa.schema": "TextNode NodeWithScore QueryBundle Document MetadataMode",
    "responsa.data_structs": "Node",
    "responsa.callbacks": "CallbackManager CBEventType EventPayload BaseCallbackHandler OpenTelemetryHandler",
    "responsa.types": "RESPONSE_TEXT_TYPE TokenGen TokenAsyncGen",
    "responsa.query_engine": "RetrieverQueryEngine",
    "responsa.node_parser": "SentenceSplitter",
    "responsa.retrievers": "VectorIndexRetriever BM25Retriever QueryFusionRetriever",
    "responsa.vector_stores": "MetadataFilter MetadataFilters FilterOperator FilterCondition",
    "responsa.postprocessor": "SimilarityPostprocessor KeywordNodePostprocessor LongContextReorder",
}


@pytest.mark.parametrize("module", NAMES)
def test_a_module_has_its_names(module: str) -> None:
    loaded = import_module(module)
    names = NAMES[module].split()
    assert [name for name in names if not hasattr(loaded, name)] == []


def test_a_name_that_is_not_there_is_told() -> None:
    import responsa.callbacks
    import responsa.grounding
    import responsa.programs

    for module in (responsa, responsa.callbacks, responsa.grounding, responsa.programs):
        with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
            _ = module.nothing
