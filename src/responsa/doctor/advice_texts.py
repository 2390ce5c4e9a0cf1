"""What to do about what the doctor found, by the finding's code, in English and Chinese; nothing where all is well."""

from __future__ import annotations

from typing import Final

ADVICE: Final[dict[str, dict[str, str]]] = {
    "time_up": {
        "en": "The server is slow or busy with other requests. Examine it again when it is idle, or give it more time.",
        "zh": "服务器较慢，或正忙于其他请求。请在空闲时再检查，或给它更多时间。",
    },
    "probe_failed": {
        "en": "Look at the server's log, then examine it again.",
        "zh": "请查看服务器日志，然后再检查一次。",
    },
    "unreachable": {
        "en": "Start a server (responsa llama-server MODEL.gguf), or give the address of one that runs.",
        "zh": "请启动服务器（responsa llama-server MODEL.gguf），或给出正在运行的服务器的地址。",
    },
    "silent": {
        "en": "The server hangs, or another program listens at this port. Look at its log, or start it again.",
        "zh": "服务器没有响应，或该端口由其他程序占用。请查看日志，或重新启动。",
    },
    "fails": {"en": "Look at the server's log.", "zh": "请查看服务器日志。"},
    "rate_limited": {
        "en": "Wait, or ask its operator for more; then examine it again.",
        "zh": "请等待，或向运营方申请更高的限额，然后再检查。",
    },
    "loading": {"en": "Wait until it is loaded, then examine it again.", "zh": "请等加载完成后再检查。"},
    "v1_missing": {"en": "Use {url}/v1.", "zh": "请使用 {url}/v1。"},
    "v1_left_out": {"en": "Use {url}/v1.", "zh": "请使用 {url}/v1。"},
    "other_server": {
        "en": "Check host and port: another program may be listening there.",
        "zh": "请检查主机和端口：可能是其他程序在监听。",
    },
    "no_such_address": {
        "en": "Give the address up to and with the part that ends in /v1.",
        "zh": "请给出到 /v1 为止（含 /v1）的地址。",
    },
    "key_refused": {"en": "Give the key the server was started with.", "zh": "请提供服务器启动时所用的密钥。"},
    "key_missing": {
        "en": "Give the server's key (api_key, or the variable RESPONSA_API_KEY).",
        "zh": "请提供服务器的密钥（api_key，或环境变量 RESPONSA_API_KEY）。",
    },
    "model_not_listed": {
        "en": "Name one of those, or none to take the one that is served.",
        "zh": "请改用其中之一，或不指定以使用服务器提供的模型。",
    },
    "model_refused": {"en": "Name a model that the server has.", "zh": "请指定服务器所有的模型。"},
    "no_models_listed": {
        "en": "Make sure that the model's id is right: it cannot be checked.",
        "zh": "请确认模型 id 正确：无法核对。",
    },
    "several_models": {"en": "Name the one you mean.", "zh": "请指定要用的模型。"},
    "window_above_served": {
        "en": "Set context_window to at most {n_ctx}, leave it out, or start the server with a larger -c.",
        "zh": "请将 context_window 设为不超过 {n_ctx}，或不设，或用更大的 -c 启动服务器。",
    },
    "window_small": {
        "en": "Start the server with a larger -c, which its slots share: {wanted} tokens a slot or more.",
        "zh": "请用更大的 -c 启动服务器（由各槽位平分）：每个槽位至少 {wanted} 个词元。",
    },
    "window_unknown": {
        "en": "Set context_window to what the server was started with.",
        "zh": "请将 context_window 设为服务器启动时的大小。",
    },
    "roles_lost": {
        "en": "Start the server with a template that keeps them (--chat-template-file), or take another model.",
        "zh": "请用保留这些消息的模板启动服务器（--chat-template-file），或换用其他模型。",
    },
    "roles_refused": {
        "en": "Start the server with a template that takes them (--chat-template-file), or use prompts without them.",
        "zh": "请用接受这些角色的模板启动服务器（--chat-template-file），或使用不含这些角色的提示。",
    },
    "messages_refused": {
        "en": "Start the server with the model's own template (--jinja, --chat-template-file).",
        "zh": "请用模型自己的模板启动服务器（--jinja、--chat-template-file）。",
    },
    "no_template": {
        "en": "Take the model's instruct form, or give the server its template (--chat-template-file).",
        "zh": "请使用该模型的 instruct 版本，或为服务器指定模板（--chat-template-file）。",
    },
    "wrong_template": {
        "en": "Take the model's instruct form, or give the server the model's own template (--chat-template-file).",
        "zh": "请使用该模型的 instruct 版本，或为服务器指定模型自己的模板（--chat-template-file）。",
    },
    "echo": {
        "en": "Set is_chat_model=True: the server has a chat template, and only messages get it.",
        "zh": "请设 is_chat_model=True：服务器有对话模板，只有对话消息才会用到它。",
    },
    "reasoning_long": {
        "en": "Leave its answers enough tokens (max_tokens), or switch reasoning off at the server.",
        "zh": "请给回答留出足够的词元（max_tokens），或在服务器上关闭思考。",
    },
    "schema_ignored": {
        "en": "Objects are read from the text and asked for again where they are not right; a newer server enforces them.",
        "zh": "对象将从文本中读取，不对时会再问一次；较新的服务器能强制执行。",
    },
    "schema_refused": {
        "en": "Objects are asked for in other ways; a newer server enforces them.",
        "zh": "将用其他方式请求对象；较新的服务器能强制执行。",
    },
    "schema_impossible": {
        "en": "Set is_chat_model=True if objects are needed.",
        "zh": "如需对象输出，请设 is_chat_model=True。",
    },
    "schema_undecided": {
        "en": "A model that reasons first needs more tokens for an object.",
        "zh": "先思考的模型输出对象需要更多词元。",
    },
    "no_answer": {"en": "Nothing can be asked before this is put right.", "zh": "解决之前无法提问。"},
    "empty_answer": {
        "en": "Check that the file is a model that answers, and look at the server's log.",
        "zh": "请确认该文件是能回答的模型，并查看服务器日志。",
    },
    "in_one_piece": {
        "en": "Something between keeps the answer back: switch off response buffering at the proxy (nginx: "
        "proxy_buffering off).",
        "zh": "中间有环节扣留了回答：请在代理上关闭响应缓冲（nginx：proxy_buffering off）。",
    },
    "slow": {
        "en": "Use no more threads than there are free cores, put layers on a GPU (-ngl), or take a smaller model.",
        "zh": "线程数不要超过空闲的核心数，或将层放到 GPU 上（-ngl），或换用更小的模型。",
    },
    "cache_missed": {
        "en": "Leave cache_prompt on (llama-server), or switch prefix caching on (vLLM: --enable-prefix-caching). "
        "Hosted servers often keep only long prompts.",
        "zh": "请保持 cache_prompt 开启（llama-server），或开启前缀缓存（vLLM：--enable-prefix-caching）。"
        "托管服务往往只缓存较长的提示。",
    },
    "no_vector": {
        "en": "Start it as an embedding server (--embeddings), or give the address of one.",
        "zh": "请以嵌入服务器方式启动（--embeddings），或给出嵌入服务器的地址。",
    },
    "dimensions_ignored": {
        "en": "Leave dimensions out: this model has only its own.",
        "zh": "请不要设 dimensions：该模型只有自己的维数。",
    },
    "index_of_other_model": {
        "en": "Serve {index_model} again, or rebuild the index with {model}.",
        "zh": "请重新提供 {index_model}，或用 {model} 重建索引。",
    },
    "index_of_other_dimension": {
        "en": "Serve the model the index was built with, or rebuild the index.",
        "zh": "请提供建立索引时所用的模型，或重建索引。",
    },
    "prefix_missing": {
        "en": "Set query_prefix to “{query}” and text_prefix to “{text}”, and rebuild the index.",
        "zh": "请将 query_prefix 设为“{query}”，text_prefix 设为“{text}”，并重建索引。",
    },
    "prefix_wrong": {
        "en": "Set query_prefix to “{query}” and text_prefix to “{text}”, and rebuild the index.",
        "zh": "请将 query_prefix 设为“{query}”，text_prefix 设为“{text}”，并重建索引。",
    },
    "prefix_twice": {
        "en": 'Leave query_prefix and text_prefix out; say text_kwargs={"input_type": "passage"} and rebuild the index.',
        "zh": '请不要设 query_prefix 和 text_prefix；改设 text_kwargs={"input_type": "passage"}，并重建索引。',
    },
    "input_type_missing": {
        "en": 'Set query_kwargs={"input_type": "query"} and text_kwargs={"input_type": "passage"}, and rebuild the index.',
        "zh": '请设 query_kwargs={"input_type": "query"} 和 text_kwargs={"input_type": "passage"}，并重建索引。',
    },
}
