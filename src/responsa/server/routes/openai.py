"""The routes with OpenAI's names: models, and chat completions."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from ..errors import language_of
from ..openai.asking import conversation_of
from ..openai.completion import Completion
from ..openai.framing import ChunkFraming
from ..openai.naming import chosen, model_names
from ..openai.replies import ChatCompletionReply, ModelReply, ModelsReply, OpenAIErrorReply
from ..openai.requests import ChatCompletionRequest
from ..runs.replies import reply_of
from ..security.bearer import Reader
from ..service import service_of
from .documented import failures

router = APIRouter(prefix="/v1", tags=["openai"])

CHUNKS: Final = {
    "text/event-stream": {
        "schema": {
            "type": "object",
            "description": "A chunk, with stream=true, as OpenAI sends it.",
            "properties": {"data": {"type": "string", "description": "The chunk's JSON; [DONE] last."}},
            "required": ["data"],
        }
    }
}


def _failures(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the documentation of failures in OpenAI's shape, where 422 is 400."""
    documented = failures(*statuses)
    documented[400] = documented.pop(422)
    # Without it the framework documents a 422 of its own.
    documented["4XX"] = {"description": "Any other request that cannot be done."}
    return {status: {**said, "model": OpenAIErrorReply} for status, said in documented.items()}


def _model(name: str) -> ModelReply:
    return ModelReply(id=name, object="model", created=0, owned_by="responsa")


@router.get("/models", responses=_failures())
async def models(request: Request, caller: Reader) -> ModelsReply:
    """List the models: every index with every mode."""
    names = model_names(service_of(request).indexes.names)
    return ModelsReply(object="list", data=[_model(name) for name in names])


@router.get("/models/{model:path}", responses=_failures(404))
async def model(
    model: Annotated[str, Path(max_length=256, description="The model's name.")], request: Request, caller: Reader
) -> ModelReply:
    """Tell whether there is a model of that name."""
    chosen(model, service_of(request).indexes.names)
    return _model(model)


@router.post(
    "/chat/completions",
    response_model=ChatCompletionReply,
    responses={200: {"content": CHUNKS}, **_failures(404, 409, 429, 502, 503, 504)},
)
async def chat_completions(body: ChatCompletionRequest, request: Request, caller: Reader) -> Response:
    """Answer the last message of a conversation from the index that the model names."""
    service = service_of(request)
    turn = await conversation_of(body, service)
    language = language_of(request.scope)
    listed = service.settings.openai_footnotes if body.responsa.footnotes is None else body.responsa.footnotes
    completion = Completion(turn, body.model, language=language, with_footnotes=listed)
    include_usage = bool(body.stream_options and body.stream_options.include_usage)

    def writer(run_id: str) -> Completion:
        completion.answer_id = run_id
        return completion

    run = service.runs.start(
        (lambda: completion.chunks(include_usage=include_usage)) if body.stream else completion.whole,
        writer,
        owner=caller.key_id,
        language=language,
        asks_model=turn.synthesizer.needs_llm,
        framing=ChunkFraming(language),
        grace=0,  # these clients do not come back for the rest
    )
    return reply_of(run, stream=bool(body.stream), heartbeat=service.settings.heartbeat_seconds)
