"""The commands' help in Chinese, by the command's path and the parameter's name; the English stands with the code."""

from __future__ import annotations

from typing import Final

_SHARED: Final = {
    "index": "索引目录。",
    "top_k": "最多检索的资料条数。",
    "as_json": "输出一个 JSON 文档。",
    "api_base": "模型服务器地址，含 /v1。",
    "model": "模型的 id；不给时使用服务器提供的模型。",
    "api_key": "模型服务器的密钥；用环境变量可避免显示。",
    "embed_api_base": "嵌入服务器地址，含 /v1；不给时使用自带的嵌入模型。",
    "embed_model": "嵌入服务器上的模型 id。",
    "embed_api_key": "嵌入服务器的密钥。",
    "settings": "TOML 设置文件；不给时用 .responsa/settings.toml（如果存在）。",
    "data_dir": "服务保存自身数据（如密钥）的目录。",
}

HELP_TEXTS: Final[dict[str, str]] = {
    "responsa": "从你的文档中得到回答：先计划再运行，可追溯到来源，由你自己的模型流式输出。",
    "responsa lang": "所用语言，可放在任何位置。",
    "responsa version": "显示版本并退出。",
    "responsa ingest": "把文档读入索引；没有变化的文档不再计算嵌入。",
    "responsa ingest paths": "要读取的文件和目录。",
    "responsa ingest chunk_size": "每条资料最多的词元数。",
    "responsa ask": "根据已导入的文档回答问题，并给出引用。",
    "responsa ask question": "问题；- 表示从标准输入读取。",
    "responsa ask mode": "回答方式：compact、refine、tree_summarize、simple_summarize、accumulate、compact_accumulate、"
    "generation、context_only 或 no_text。",
    "responsa ask max_tokens": "每次调用最多生成的词元数。",
    "responsa ask plan": "只显示将要进行的调用，不询问模型。",
    "responsa ask trace": "显示已进行的调用的表格。",
    "responsa ask no_stream": "等回答完整后再显示。",
    "responsa chat": "在终端中对话：有索引时依据其中的文档，没有时直接与模型对话。",
    "responsa chat session": "对话的名称：继续已有的对话，或以此名称新建；不给时新建一个。",
    "responsa chat listed": "列出保存的对话。",
    "responsa chat store": "对话的保存位置：JSON 行文件、SQLite 文件（.db）或 postgresql:// 地址；"
    "不给时保存在用户数据目录的 responsa/chats.jsonl。",
    "responsa chat mode": "回答方式：best、simple、context、condense_question 或 condense_plus_context；"
    "不给时有索引用 best，没有用 simple。",
    "responsa chat system": "放在整个对话之前的指示。",
    "responsa chat max_tokens": "每次回答最多生成的词元数。",
    "responsa search": "显示回答会依据的资料，不让模型回答。",
    "responsa search words": "要查找的内容。",
    "responsa search by": "按含义（meaning）、按词语（words），或两者结合（hybrid）检索。",
    "responsa index": "查看索引。",
    "responsa index info": "显示索引的内容和建立方式。",
    "responsa serve": "通过 HTTP 提供问答服务，直到按下 Ctrl-C。",
    "responsa serve host": "监听的地址。",
    "responsa serve port": "端口；0 表示任选一个空闲端口。",
    "responsa serve index": "提供的索引：目录或 名称=目录，多个用逗号分隔；不给时只根据请求中的资料回答。",
    "responsa serve no_auth": "不要求密钥；只能用于本机地址。",
    "responsa keys": "创建和撤销服务的 API 密钥。",
    "responsa keys add": "创建密钥并显示一次；只保存它的哈希值。",
    "responsa keys add name": "密钥属于谁，或用于什么。",
    "responsa keys add scope": "密钥的权限：read、write 或 admin，后者包含前者；可多次给出。",
    "responsa keys add limit": "密钥的提问频率，如 60/minute，代替设置中的限额"
    "（second、minute、hour、day）；可多次给出。",
    "responsa keys list": "列出密钥。",
    "responsa keys revoke": "不再接受某个密钥。",
    "responsa keys revoke key_id": "密钥的 id，见 responsa keys list。",
    "responsa config": "显示服务生效的设置，不含密钥。",
    "responsa llama-server": "在本机提供模型服务，直到按下 Ctrl-C。",
    "responsa llama-server model": "GGUF 文件，或可获取的模型名称。",
    "responsa llama-server model_option": "同 MODEL。",
    "responsa llama-server hf": "模型库中的文件，由 llama-server 程序自己下载。",
    "responsa llama-server program": "要运行的 llama-server 程序，代替自带的。",
    "responsa llama-server wait": "等待模型加载的最长秒数；不给时为 300，用 --hf 时为 3600。",
    "responsa llama-server host": "监听的地址。",
    "responsa llama-server port": "端口；0 表示任选一个空闲端口。",
    "responsa llama-server ctx_size": "每个槽位的提示加回答的词元数。",
    "responsa llama-server parallel": "槽位数：同时处理的请求数。",
    "responsa llama-server threads": "线程数；不给时使用空闲的物理核心。",
    "responsa llama-server embeddings": "提供嵌入而不是回答。",
    "responsa llama-server pooling": "嵌入的方式：mean、cls、last；重排模型用 rank。",
    "responsa llama-server alias": "模型的 id；不给时使用文件名。",
    "responsa models": "获取可从软件包得到的模型。",
    "responsa models fetch": "把模型获取到缓存，校验后显示其路径。",
    "responsa models fetch name": "模型名称，见 responsa models list。",
    "responsa models list": "列出可以获取的模型。",
    "responsa doctor": "检查模型服务器：哪里不对，该怎么办。",
    "responsa doctor context_window": "你的程序所设的窗口（词元数）。",
    "responsa doctor completions": "用纯文本提示提问（is_chat_model=False），不用对话消息。",
    "responsa doctor embed_api_base": "嵌入服务器地址，含 /v1；不给时不检查。",
    "responsa doctor query_prefix": "你的程序在查询前加的文字。",
    "responsa doctor text_prefix": "你的程序在资料前加的文字。",
    "responsa doctor seconds": "检查最多用时（秒）。",
    "responsa demo": "用本机上的真实模型，向示例文档提三个问题。",
    "responsa demo demo_model": "要获取的模型：1.5b、0.5b 或 smollm2。",
    "responsa demo api_base": "改用正在运行的服务器，地址含 /v1。",
    "responsa demo serve": "不提问，而是通过 HTTP 提供回答，直到按 Ctrl-C。",
}


def help_text(path: str, parameter: str | None = None) -> str:
    """Return the Chinese help of a command, or of one of its parameters."""
    if parameter is None:
        return HELP_TEXTS[path]
    return HELP_TEXTS.get(f"{path} {parameter}") or _SHARED[parameter]
