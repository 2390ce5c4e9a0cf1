"""What the terminal program says of itself, in English and Chinese.

`{name}` stands for a value, `{name:thing}` for a number of things: "1 thing", "3 things".
"""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, dict[str, str]]] = {
    "error": {"en": "Error: ", "zh": "错误："},
    "warning": {"en": "Warning: ", "zh": "注意："},
    "interrupted": {"en": "Interrupted.", "zh": "已中断。"},
    "comma": {"en": ", ", "zh": "，"},
    "usage": {"en": "Usage: ", "zh": "用法："},
    "see_help": {"en": "See: {command} --help", "zh": "详见：{command} --help"},
    "no_such_option": {"en": "There is no option {name}.{hint}", "zh": "没有选项 {name}。{hint}"},
    "did_you_mean": {"en": " Did you mean {names}?", "zh": "是否想用 {names}？"},
    "no_such_command": {"en": "There is no command {name}.{hint}", "zh": "没有命令 {name}。{hint}"},
    "missing": {"en": "{name} is missing.", "zh": "缺少 {name}。"},
    "invalid": {"en": "{name}: {message}", "zh": "{name} 的值无效：{message}"},
    # Answers.
    "found": {
        "en": "Found {passages:passage} from {documents:document}",
        "zh": "检索到 {passages} 条资料，来自 {documents} 个文档",
    },
    "nothing_found": {"en": "Nothing was found.", "zh": "没有找到任何内容。"},
    "planned_exactly": {
        "en": "{calls:call} planned: {prompt} prompt tokens, at most {answer} to write",
        "zh": "计划 {calls} 次调用：提示 {prompt} 个词元，最多生成 {answer} 个",
    },
    "planned_at_most": {
        "en": "at most {calls:call} planned: at most {prompt} prompt tokens, {answer} to write",
        "zh": "计划最多 {calls} 次调用：提示最多 {prompt} 个词元，最多生成 {answer} 个",
    },
    "planned_seconds": {"en": "at most {seconds} s", "zh": "最多 {seconds} 秒"},
    "cost_unknown": {"en": "The cost of {step} is not known.", "zh": "{step} 的开销未知。"},
    "plan_header": {"en": "call|stage|prompt|answer|passages", "zh": "调用|步骤|提示|回答|资料"},
    "reasoning": {"en": "The model is reasoning …", "zh": "模型正在思考……"},
    "step": {"en": "Call {number} of {calls}: {stage}", "zh": "第 {number}/{calls} 次调用：{stage}"},
    "step_with_passages": {
        "en": "Call {number} of {calls}: {stage}, passages {passages}",
        "zh": "第 {number}/{calls} 次调用：{stage}，资料 {passages}",
    },
    "replaced": {"en": "The answer above is replaced by:", "zh": "以上回答改为："},
    "item": {"en": "Answer {number}, from passages {passages}", "zh": "回答 {number}，依据资料 {passages}"},
    "item_failed": {"en": "failed: {error}", "zh": "失败：{error}"},
    "refused": {
        "en": "The model found no answer in these passages.",
        "zh": "模型在这些资料中没有找到答案。",
    },
    "sources": {"en": "Sources", "zh": "来源"},
    "quote": {"en": "“{text}”", "zh": "“{text}”"},
    "page": {"en": "page {page}", "zh": "第 {page} 页"},
    "characters": {"en": "characters {start}-{end}", "zh": "字符 {start}-{end}"},
    "weak": {"en": "(hardly supports the statement)", "zh": "（几乎不支持该句）"},
    "not_cited": {"en": "(not cited)", "zh": "（未引用）"},
    "shown_whole": {"en": "", "zh": ""},
    "shown_cut": {"en": "(shown to the model in part)", "zh": "（只有部分给了模型）"},
    "shown_not": {"en": "(not shown to the model)", "zh": "（没有给模型）"},
    "legend": {
        "en": "[n*]: not written by the model; attached for the sentence that supports the statement best.",
        "zh": "[n*]：不是模型写的，而是按最能支持该句的原文附上的。",
    },
    "trace": {"en": "Calls", "zh": "调用"},
    "trace_header": {
        "en": "call|stage|prompt|answer|cached|first word s|total s|finish",
        "zh": "调用|步骤|提示词元|回答词元|缓存词元|首词秒数|总秒数|结束",
    },
    "call_failed": {"en": "failed: {error}", "zh": "失败：{error}"},
    # Conversations.
    "searched_with": {"en": "Searching with: {words}", "zh": "检索所用的问题：{words}"},
    "chat_new": {"en": "A new conversation, {name}.", "zh": "新对话 {name}。"},
    "chat_goes_on": {
        "en": "The conversation {name} goes on: {messages:message} so far.",
        "zh": "继续对话 {name}：已有 {messages} 条消息。",
    },
    "chat_with_index": {"en": "Mode {mode}, over the index {path}.", "zh": "方式 {mode}，索引 {path}。"},
    "chat_without_index": {
        "en": "Mode {mode}: answers come from the model alone, without documents.",
        "zh": "方式 {mode}：只由模型回答，不检索文档。",
    },
    "chat_no_index": {
        "en": "There is no index here: answers come from the model alone. To have one: responsa ingest PATH",
        "zh": "这里没有索引：只由模型回答。建立索引：responsa ingest PATH",
    },
    "chat_how": {
        "en": "/help lists the commands. Ctrl-C stops an answer, Ctrl-D ends.",
        "zh": "/help 列出命令。Ctrl-C 停止回答，Ctrl-D 结束。",
    },
    "chat_at_prompt": {"en": "To end: Ctrl-D or /quit", "zh": "结束请按 Ctrl-D 或输入 /quit"},
    "chat_stopped": {
        "en": "Stopped. What was written is kept; the same question again takes its place.",
        "zh": "已停止。写出的部分已保存；再次提出同一问题会替换它。",
    },
    "chat_kept": {
        "en": "Kept. To go on: responsa chat --session {name}",
        "zh": "已保存。继续：responsa chat --session {name}",
    },
    "chat_reset": {"en": "The conversation is empty again.", "zh": "对话已清空。"},
    "chat_no_command": {
        "en": "There is no command /{name}. /help lists them.",
        "zh": "没有命令 /{name}。/help 列出命令。",
    },
    "chat_no_argument": {"en": "/{name} takes nothing behind it.", "zh": "/{name} 后面不能带内容。"},
    "chat_no_answer": {"en": "There is no answer yet.", "zh": "还没有回答。"},
    "chat_no_sources": {"en": "The last answer has no sources.", "zh": "上一个回答没有来源。"},
    "chat_no_trace": {
        "en": "The calls of answers given earlier are not kept. Ask something first.",
        "zh": "之前的调用没有保存。请先提问。",
    },
    "chat_modes": {"en": "Mode {mode}. There are: {modes}", "zh": "方式 {mode}。可用：{modes}"},
    "chat_exported": {"en": "Written to {path}", "zh": "已写入 {path}"},
    "chat_file_exists": {"en": "{path} is there already.", "zh": "{path} 已存在。"},
    "chat_list_header": {"en": "session|last written|title", "zh": "对话|最后写入|标题"},
    "chat_none": {"en": "No conversation is kept in {place}.", "zh": "{place} 中没有保存的对话。"},
    "chat_help_plan": {
        "en": "the calls a question would take, without asking the model; without a question, those of the last answer",
        "zh": "显示回答某个问题将要进行的调用，不询问模型；不给问题时显示上一个回答的计划",
    },
    "chat_help_sources": {"en": "the sources of the last answer", "zh": "上一个回答的来源"},
    "chat_help_trace": {"en": "the calls the last answer took", "zh": "上一个回答实际进行的调用"},
    "chat_help_reset": {"en": "forget the conversation", "zh": "清空对话"},
    "chat_help_mode": {"en": "show or change how answers are made", "zh": "显示或更改回答方式"},
    "chat_help_export": {
        "en": "write the conversation to a new file: JSON if it ends in .json, else Markdown; without a file, show it",
        "zh": "把对话写入新文件：以 .json 结尾时为 JSON，否则为 Markdown；不给文件时直接显示",
    },
    "chat_help_help": {"en": "this list", "zh": "显示此列表"},
    "chat_help_quit": {"en": "end; the conversation is kept", "zh": "结束；对话会保存"},
    "chat_argument_plan": {"en": "[QUESTION]", "zh": "[问题]"},
    "chat_argument_mode": {"en": "[MODE]", "zh": "[方式]"},
    "chat_argument_export": {"en": "[FILE]", "zh": "[文件]"},
    # Documents and indexes.
    "progress_files": {"en": "{done}/{total:file}", "zh": "{done}/{total} 个文件"},
    "progress_rate": {"en": "{passages:passage}, {rate}/s", "zh": "{passages} 条资料，{rate} 条/秒"},
    "time_left": {"en": "{time} left", "zh": "剩余 {time}"},
    "skipped": {"en": "Skipped {count} of {total:file}:", "zh": "{total} 个文件中跳过了 {count} 个："},
    "ingested": {
        "en": "Stored {passages:passage} of {stored:document} in {seconds} s: {new} new, {replaced} changed; "
        "{unchanged} unchanged.",
        "zh": "用 {seconds} 秒存入 {stored} 个文档的 {passages} 条资料：新增 {new} 个，更新 {replaced} 个；"
        "{unchanged} 个没有变化。",
    },
    "without_text": {"en": "{count:document} had no text.", "zh": "{count} 个文档没有文字。"},
    "index_holds": {
        "en": "The index {path} holds {passages:passage} of {documents:document}.",
        "zh": "索引 {path} 现有 {documents} 个文档的 {passages} 条资料。",
    },
    "info_path": {"en": "directory", "zh": "目录"},
    "info_documents": {"en": "documents", "zh": "文档"},
    "info_passages": {"en": "passages", "zh": "资料"},
    "info_embed_model": {"en": "embedding model", "zh": "嵌入模型"},
    "info_dimensions": {"en": "dimensions", "zh": "维数"},
    "info_format": {"en": "form", "zh": "格式"},
    "info_size": {"en": "size on disk", "zh": "占用磁盘"},
    # Servers and models.
    "server_downloading": {
        "en": "The server loads {model}, and downloads it first if it is not here yet …",
        "zh": "服务器正在加载 {model}，本机没有时会先下载……",
    },
    "server_starting": {"en": "Loading {model} …", "zh": "正在加载 {model} ……"},
    "server_ready": {"en": "{model} is served at {url}", "zh": "{model} 已在 {url} 提供服务"},
    "server_how_to_ask": {
        "en": 'Ask it: responsa ask "..." --api-base {url}    Stop it: Ctrl-C',
        "zh": '提问：responsa ask "……" --api-base {url}    停止：Ctrl-C',
    },
    "server_how_to_embed": {
        "en": "Use it: responsa ingest PATH --embed-api-base {url}    Stop it: Ctrl-C",
        "zh": "使用：responsa ingest PATH --embed-api-base {url}    停止：Ctrl-C",
    },
    "server_stopped": {"en": "The server has ended and its memory is free.", "zh": "服务器已结束，内存已释放。"},
    "server_died": {"en": "The server ended by itself (exit code {code}).", "zh": "服务器自行结束（退出码 {code}）。"},
    "service_ready": {"en": "The answer service listens at {url}", "zh": "问答服务已在 {url} 启动"},
    "service_indexes": {"en": "Indexes: {names}", "zh": "索引：{names}"},
    "service_without_index": {
        "en": "No index: it answers from the passages in a request.",
        "zh": "没有索引：只根据请求中的资料回答。",
    },
    "service_without_keys": {
        "en": "There is no key yet, so every question is refused. Make one: responsa keys add NAME",
        "zh": "还没有密钥，所有问题都会被拒绝。请先创建：responsa keys add NAME",
    },
    "key_made": {
        "en": "Keep it now: only its hash is stored, and it cannot be shown again. Id: {key_id}, scopes: {scopes}",
        "zh": "请立即保存：这里只存它的哈希值，无法再次显示。id：{key_id}，权限：{scopes}",
    },
    "key_revoked": {"en": "{key_id} ({name}) is accepted no longer.", "zh": "不再接受 {key_id}（{name}）。"},
    "keys_header": {"en": "id|name|scopes|limits|made|revoked", "zh": "id|名称|权限|限额|创建|撤销"},
    "fetching": {"en": "Fetching {name}", "zh": "正在获取 {name}"},
    "models_for_tests": {"en": "none (for tests)", "zh": "无（仅供测试）"},
    "models_header": {"en": "name|size MB|here|languages|licence", "zh": "名称|大小 MB|已有|语言|许可证"},
    "yes": {"en": "yes", "zh": "是"},
    "no": {"en": "no", "zh": "否"},
    # Examining servers.
    "examining": {"en": "Examining {urls} …", "zh": "正在检查 {urls} ……"},
    "examined_chat": {"en": "Model server {url}", "zh": "模型服务器 {url}"},
    "examined_embedding": {"en": "Embedding server {url}", "zh": "嵌入服务器 {url}"},
    "status_ok": {"en": "ok", "zh": "正常"},
    "status_warning": {"en": "warning", "zh": "注意"},
    "status_fault": {"en": "fault", "zh": "故障"},
    "status_not_checked": {"en": "-", "zh": "-"},
    "examined": {"en": "{faults:fault}, {warnings:warning}.", "zh": "{faults} 个故障，{warnings} 个注意。"},
    # The demonstration.
    "demo_next_model": {
        "en": "{name} cannot be had ({reason}). Trying the next smaller model, whose answers are poorer.",
        "zh": "无法获取 {name}（{reason}）。改用更小的模型，回答质量会差一些。",
    },
    "demo_english_only": {
        "en": "{name} knows English only: its Chinese answer shows the way, not the quality.",
        "zh": "{name} 只懂英文：它的中文回答只演示流程，不代表质量。",
    },
    "demo_uses_server": {"en": "Using the server at {url}", "zh": "使用 {url} 的服务器"},
    "demo_waiting": {
        "en": "Waiting for the model to arrive: {done} of {total} MB …",
        "zh": "正在等待模型下载完成：{done}/{total} MB……",
    },
    "demo_ask_service": {
        "en": "To ask it, in another terminal, at the URL that it tells when it listens:",
        "zh": "服务启动后会显示 URL，请在另一个终端提问：",
    },
    "demo_done": {
        "en": "Done in {seconds} s; nothing is left running. To go on:",
        "zh": "用时 {seconds} 秒，没有遗留任何进程。接下来可以：",
    },
    "demo_own_files": {"en": "your own files", "zh": "导入自己的文件"},
    "demo_own_server": {"en": "a server (in another terminal)", "zh": "启动服务器（在另一个终端）"},
    "demo_own_question": {"en": "a question", "zh": "提问"},
    "demo_other_server": {"en": "the same with a server you have", "zh": "使用已有的服务器"},
}
