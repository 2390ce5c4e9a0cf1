"""What each error says, by its code, in English and Chinese. `{name}` stands for one of the error's fields.

Where a field may be unknown there are several texts: the first that names only known fields is said.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

Translations: TypeAlias = Mapping[str, str | tuple[str, ...]]

ERROR_TEXTS: Final[dict[str, Translations]] = {
    "empty_question": {
        "en": "The question is empty. Ask something.",
        "zh": "问题是空的。请输入问题。",
    },
    "question_too_long": {
        "en": "The question has {n_characters} characters, the limit is {limit}. Put long material in documents and ask about it.",
        "zh": "问题有 {n_characters} 个字符，上限是 {limit}。长材料请作为文档导入后再提问。",
    },
    "unknown_option": {
        "en": (
            "{owner} has no {name}. Known: {known}.",
            "{owner} has no {name}. Leave it out.",
        ),
        "zh": (
            "{owner} 没有 {name}。可用的有：{known}。",
            "{owner} 没有 {name}。请去掉它。",
        ),
    },
    "invalid_option": {
        "en": (
            "{name} cannot be {value}: expected {expected}.",
            "{name} cannot be empty: expected {expected}.",
        ),
        "zh": (
            "{name} 不能是 {value}：应为 {expected}。",
            "{name} 不能为空：应为 {expected}。",
        ),
    },
    "missing_part": {
        "en": "{owner} needs {part}: give it as an argument, or set it on responsa.Settings.",
        "zh": "{owner} 需要 {part}：请作为参数传入，或在 responsa.Settings 上设置。",
    },
    "missing_argument": {
        "en": "{owner} needs {argument}: give it with the call.",
        "zh": "{owner} 需要 {argument}：请在调用时给出。",
    },
    "missing_method": {
        "en": "{owner} does not define {methods}. Define it in the class.",
        "zh": "{owner} 没有定义 {methods}。请在类中定义。",
    },
    "missing_extra": {
        "en": "{feature} is not installed. Run: pip install 'responsa[{extra}]'",
        "zh": "未安装{feature}。请运行：pip install 'responsa[{extra}]'",
    },
    "server_program_not_found": {
        "en": "There is no program {program} on this machine to load {model} with; the packaged server loads only files "
        "that are here, and downloads none. Install llama.cpp's llama-server, or name it (--program); or download the "
        "file yourself and give it: responsa llama-server FILE.gguf",
        "zh": "本机没有可用来加载 {model} 的程序 {program}；软件包自带的服务器只加载本机文件，不会下载。请安装 llama.cpp 的 llama-server，"
        "或用 --program 指定它；也可以自行下载文件后运行：responsa llama-server FILE.gguf",
    },
    "window_too_small": {
        "en": "A window of {window} tokens is too small for this prompt ({table}). Shorten the question or the "
        "template, ask for a shorter answer (max_tokens), or start the server with a larger -c.",
        "zh": "{window} 个词元的窗口装不下这个提示（{table}）。请缩短问题或模板，减小 max_tokens，或用更大的 -c 启动服务。",
    },
    "window_above_served": {
        "en": "context_window={asked}, but the server serves {served} tokens a slot. Set context_window to at most "
        "{served}, leave it out, or start the server with a larger -c.",
        "zh": "context_window={asked}，但服务器每个槽位只有 {served} 个词元。请设为不超过 {served}，或不设，或用更大的 -c 启动服务。",
    },
    "streaming_not_supported": {
        "en": "The mode {mode} has several answers and cannot stream them as one text. Read its events instead "
        "(stream_events), or set streaming=False.",
        "zh": "{mode} 模式有多个回答，不能作为一段文本流式输出。请改用事件流（stream_events），或设 streaming=False。",
    },
    "template_error": {
        "en": "The prompt template cannot be used: {reason}. Correct the template, or leave it out to use the default one.",
        "zh": "提示模板无法使用：{reason}。请改正模板，或不指定以使用默认模板。",
    },
    "unsafe_binding": {
        "en": "--no-auth is accepted on this machine's own address alone (127.0.0.1, ::1, localhost), not on {host}. Make a "
        "key (responsa keys add NAME) and leave --no-auth out.",
        "zh": "--no-auth 只能用于本机地址（127.0.0.1、::1、localhost），不能用于 {host}。请创建密钥（responsa keys add NAME），并去掉 --no-auth。",
    },
    "key_needed": {
        "en": "{host} can be reached from the network, and there is no key to guard it. Make one: responsa keys add NAME",
        "zh": "{host} 可从网络访问，而还没有任何密钥。请先创建：responsa keys add NAME",
    },
    "invalid_request": {
        "en": "The request cannot be read: {faults}. See GET /openapi.json for what it may hold.",
        "zh": "无法读取请求：{faults}。请参看 GET /openapi.json 中的格式。",
    },
    "no_such_route": {
        "en": "There is no {method} {route} here. See GET /openapi.json, which lists what there is.",
        "zh": "这里没有 {method} {route}。请看 GET /openapi.json，其中列出了所有接口。",
    },
    "body_too_large": {
        "en": "The request's body has more than {limit} bytes, the limit. Send less at a time.",
        "zh": "请求正文超过上限 {limit} 字节。请减少每次发送的内容。",
    },
    "key_not_accepted": {
        "en": "A valid API key is needed: send it in the header 'Authorization: Bearer KEY'.",
        "zh": "需要 API 密钥：请在请求头 Authorization: Bearer KEY 中提供有效的密钥。",
    },
    "scope_missing": {
        "en": "This key may not do that. Use one with the scope {scope}.",
        "zh": "这个密钥没有权限。请使用权限为 {scope} 的密钥。",
    },
    "origin_refused": {
        "en": "Requests from {origin} are not accepted. Allow it with the setting cors_origins or allowed_hosts.",
        "zh": "不接受来自 {origin} 的请求。请用设置 cors_origins 或 allowed_hosts 允许它。",
    },
    "unknown_index": {
        "en": "There is no index {name}. Known: {known}.",
        "zh": "没有名为 {name} 的索引。可用的有：{known}。",
    },
    "index_not_made": {
        "en": "The index {name} holds no documents yet. Send some: POST /v1/documents, or run responsa ingest where the service runs.",
        "zh": "索引 {name} 中还没有文档。请用 POST /v1/documents 上传，或在服务所在的机器上运行 responsa ingest。",
    },
    "unknown_model": {
        "en": "There is no model {name}. Name one of these: {known}.",
        "zh": "没有模型 {name}。可用的有：{known}。",
    },
    "too_many_requests": {
        "en": "This key may make {limit} requests in {seconds} s. Ask again in {retry_after} s.",
        "zh": "这个密钥在 {seconds} 秒内最多可请求 {limit} 次。请在 {retry_after} 秒后重试。",
    },
    "answer_not_found": {
        "en": "There is no answer {answer_id}, or it is kept no longer. Ask again.",
        "zh": "没有回答 {answer_id}，或已不再保留。请重新提问。",
    },
    "server_error": {
        "en": "The model server at {url} failed. See its log, then ask again.",
        "zh": "{url} 的模型服务器出错。请查看它的日志，然后重试。",
    },
    "server_unreachable": {
        "en": (
            "No model server answers at {url} ({reason}). Start one (responsa llama-server MODEL.gguf) or give its address. {hint}",
            "No model server answers at {url} ({reason}). Start one (responsa llama-server MODEL.gguf) or give its address.",
            "No model server answers at {url}. Start one (responsa llama-server MODEL.gguf) or give its address.",
        ),
        "zh": (
            "{url} 没有模型服务器应答（{reason}）。请启动一个（responsa llama-server MODEL.gguf），或给出它的地址。{hint}",
            "{url} 没有模型服务器应答（{reason}）。请启动一个（responsa llama-server MODEL.gguf），或给出它的地址。",
            "{url} 没有模型服务器应答。请启动一个（responsa llama-server MODEL.gguf），或给出它的地址。",
        ),
    },
    "server_loading": {
        "en": "The server at {url} was still loading its model after {waited} s. Wait and ask again, or raise timeout.",
        "zh": "等待 {waited} 秒后，{url} 的服务器仍在加载模型。请稍后再试，或增大 timeout。",
    },
    "authentication_failed": {
        "en": "The server at {url} did not accept the API key. Give the right one (api_key).",
        "zh": "{url} 的服务器不接受这个 API 密钥。请提供正确的 api_key。",
    },
    "model_not_found": {
        "en": (
            "The server at {url} serves no model named {model}. It serves: {served}. Give one of these as the model, or start a server with the one you want.",
            "The server at {url} serves no model named {model}. Leave the model out to take the served one, or start a server with the one you want.",
            "The server at {url} does not serve this model. Leave the model out to take the served one, or start a server with the one you want.",
        ),
        "zh": (
            "{url} 的服务器没有提供名为 {model} 的模型。它提供：{served}。请改用其中之一，或启动提供所需模型的服务器。",
            "{url} 的服务器没有提供名为 {model} 的模型。请不指定模型以使用它所提供的，或启动提供所需模型的服务器。",
            "{url} 的服务器没有提供这个模型。请不指定模型以使用它所提供的，或启动提供所需模型的服务器。",
        ),
    },
    "rate_limited": {
        "en": (
            "The server at {url} refuses more requests for now; try again in {retry_after} s.",
            "The server at {url} refuses more requests for now; try again later, or send fewer at a time.",
        ),
        "zh": (
            "{url} 的服务器暂时拒绝更多请求；请在 {retry_after} 秒后重试。",
            "{url} 的服务器暂时拒绝更多请求；请稍后重试，或减少并发请求。",
        ),
    },
    "request_refused": {
        "en": (
            "The server at {url} refused the request (HTTP {status}): {message}. Change what it names, or see the server's log.",
            "The server at {url} refused the request (HTTP {status}) and does not say why. See the server's log.",
        ),
        "zh": (
            "{url} 的服务器拒绝了请求（HTTP {status}）：{message}。请按其说明修改请求，或查看服务器日志。",
            "{url} 的服务器拒绝了请求（HTTP {status}），没有说明原因。请查看服务器日志。",
        ),
    },
    "context_window_exceeded": {
        "en": (
            "The server at {url} counted {n_prompt_tokens} tokens, its window has {n_ctx}. Start it with a larger -c (it is divided by the slots), or send less.",
            "The server at {url} refused a prompt that is longer than its window of {n_ctx} tokens. Start it with a larger -c (it is divided by the slots), or send less.",
            "The server at {url} counted {n_prompt_tokens} tokens, more than its window has. Start it with a larger -c (it is divided by the slots), or send less.",
            "The server at {url} refused a prompt that is longer than its window. Start it with a larger -c (it is divided by the slots), or send less.",
        ),
        "zh": (
            "{url} 的服务器数出 {n_prompt_tokens} 个词元，而窗口只有 {n_ctx}。请用更大的 -c 启动（会按槽位均分），或减少内容。",
            "{url} 的服务器拒绝了超出其 {n_ctx} 词元窗口的提示。请用更大的 -c 启动（会按槽位均分），或减少内容。",
            "{url} 的服务器数出 {n_prompt_tokens} 个词元，超出了它的窗口。请用更大的 -c 启动（会按槽位均分），或减少内容。",
            "{url} 的服务器拒绝了超出其窗口的提示。请用更大的 -c 启动（会按槽位均分），或减少内容。",
        ),
    },
    "input_too_long": {
        "en": (
            'Text {position} of the batch is too long for the embedding server at {url} (it starts with "{excerpt}"): {message}. Split it smaller, or start the server with a larger batch size (-ub).',
            'Text {position} of the batch is too long for the embedding server at {url} (it starts with "{excerpt}"). Split it smaller, or start the server with a larger batch size (-ub).',
        ),
        "zh": (
            "第 {position} 条文本对 {url} 的嵌入服务器太长（开头为“{excerpt}”）：{message}。请切得更小，或用更大的 -ub 启动服务。",
            "第 {position} 条文本对 {url} 的嵌入服务器太长（开头为“{excerpt}”）。请切得更小，或用更大的 -ub 启动服务。",
        ),
    },
    "bad_response": {
        "en": "The answer of {url} cannot be read: {reason}. Is it an OpenAI-compatible server?",
        "zh": "无法解读 {url} 的应答：{reason}。它是 OpenAI 兼容的服务器吗？",
    },
    "server_timeout": {
        "en": (
            "The server at {url} gave no sign for {silence} s. Raise timeout, or see what the server is doing.",
            "The server at {url} was not done after {seconds} s. Raise timeout, ask for a shorter answer (max_tokens), or see what the server is doing.",
        ),
        "zh": (
            "{url} 的服务器 {silence} 秒没有动静。请增大 timeout，或检查服务器。",
            "{url} 的服务器在 {seconds} 秒后仍未完成。请增大 timeout，减小 max_tokens，或检查服务器。",
        ),
    },
    "stream_interrupted": {
        "en": (
            "The answer broke off after {n} characters ({reason}); they are kept. Ask again. Server: {url}",
            "The answer broke off after {n} characters; they are kept. Ask again. Server: {url}",
        ),
        "zh": (
            "回答在 {n} 个字符后中断（{reason}），已收到的部分保留。请重试。服务器：{url}",
            "回答在 {n} 个字符后中断，已收到的部分保留。请重试。服务器：{url}",
        ),
    },
    "structured_output_failed": {
        "en": "The model's answer is not of the wanted form: {reason}. Ask again, ask for a simpler form, allow a longer answer (max_tokens), or use a larger model.",
        "zh": "模型的回答不符合所要的结构：{reason}。请重试，简化结构，增大 max_tokens，或使用更大的模型。",
    },
    "step_failed": {
        "en": "The step {stage} failed: {reason}. It is not a fault that this package knows: see where it comes from (the error's __cause__), and run again.",
        "zh": "步骤 {stage} 失败：{reason}。这不是本软件包已知的错误：请查看其来源（错误的 __cause__），然后重新运行。",
    },
    "journal_incomplete": {
        "en": "The journal does not hold {missing}. Run the program once more with a model over it (journal.over(llm)), "
        "then replay it; and replay with the same question, passages and settings.",
        "zh": "日志里没有{missing}。请先用模型再运行一遍（journal.over(llm)），然后重放；重放时问题、段落和设置须与原来相同。",
    },
    "call_budget_exceeded": {
        "en": "This would take {planned} calls, {limit} are allowed. Raise max_calls, retrieve fewer passages, or use a "
        "model with a larger window.",
        "zh": "这需要 {planned} 次调用，只允许 {limit} 次。请增大 max_calls，减少检索条数，或使用更大窗口的模型。",
    },
    "does_not_converge": {
        "en": "The summaries of level {level} fill {packs} packs, no fewer than before. Use a model with a larger window, or ask for shorter summaries (max_tokens).",
        "zh": "第 {level} 层的摘要仍占 {packs} 个包，没有减少。请使用更大窗口的模型，或减小 max_tokens 使摘要更短。",
    },
    "retrieval_failed": {
        "en": "The search failed: {reason}. Check the retriever and its index or server, then ask again.",
        "zh": "检索失败：{reason}。请检查检索器及其索引或服务器，然后重试。",
    },
    "index_fault": {
        "en": "The index at {path} is faulty. Ingest again into a new directory.",
        "zh": "索引 {path} 有问题。请在新目录中重新导入。",
    },
    "index_not_found": {
        "en": "There is no index at {path}. Make one: responsa ingest PATH --index {path}",
        "zh": "{path} 没有索引。请先建立：responsa ingest PATH --index {path}",
    },
    "index_empty": {
        "en": "The index at {path} holds no passages. Add documents: responsa ingest PATH --index {path}",
        "zh": "索引 {path} 是空的。请添加文档：responsa ingest PATH --index {path}",
    },
    "index_damaged": {
        "en": "The index at {path} cannot be read: {reason}. Remove the directory and ingest again.",
        "zh": "无法读取索引 {path}：{reason}。请删除该目录后重新导入。",
    },
    "index_version_mismatch": {
        "en": "The index at {path} has the form {found}, this version reads {expected}. Rebuild it in a new directory: responsa ingest PATH --index DIR",
        "zh": "索引 {path} 的格式是 {found}，本版本读取 {expected}。请在新目录中重建：responsa ingest PATH --index DIR",
    },
    "index_locked": {
        "en": "Another process is writing to the index at {path}. Wait until it is done.",
        "zh": "另一个进程正在写入索引 {path}。请等它完成。",
    },
    "index_not_writable": {
        "en": (
            "The index at {path} cannot be written: {reason}. What was stored before is kept. Free some room or allow writing there, then run it again.",
            "The index at {path} cannot be written. What was stored before is kept. Free some room or allow writing there, then run it again.",
        ),
        "zh": (
            "无法写入索引 {path}：{reason}。先前存入的内容都在。请腾出空间或开放写权限，然后重新运行。",
            "无法写入索引 {path}。先前存入的内容都在。请腾出空间或开放写权限，然后重新运行。",
        ),
    },
    "embedder_not_given": {
        "en": "The index at {path} was built with {index_model}, which is not packaged: name its server "
        "(--embed-api-base URL).",
        "zh": "索引 {path} 是用 {index_model} 建立的，该模型不在软件包中：请给出它的服务器地址（--embed-api-base URL）。",
    },
    "embedding_mismatch": {
        "en": (
            "The index at {path} was built with {index_model} ({index_dimensions} dimensions), not {given_model} ({given_dimensions}). Use that model, or rebuild the index with the new one in a new directory: responsa ingest PATH --index DIR; of what was sent to the service: responsa serve --index NAME=DIR, then POST /v1/documents/reindex with index=NAME",
            "The index at {path} was built with {index_model} ({index_dimensions} dimensions), not {given_model}. Use that model, or rebuild the index with the new one in a new directory: responsa ingest PATH --index DIR; of what was sent to the service: responsa serve --index NAME=DIR, then POST /v1/documents/reindex with index=NAME",
        ),
        "zh": (
            "索引 {path} 是用 {index_model}（{index_dimensions} 维）建立的，不是 {given_model}（{given_dimensions} 维）。请使用原来的模型，或在新目录中用新模型重建索引：responsa ingest PATH --index DIR；发送给服务的文档：responsa serve --index NAME=DIR，然后 POST /v1/documents/reindex（index=NAME）",
            "索引 {path} 是用 {index_model}（{index_dimensions} 维）建立的，不是 {given_model}。请使用原来的模型，或在新目录中用新模型重建索引：responsa ingest PATH --index DIR；发送给服务的文档：responsa serve --index NAME=DIR，然后 POST /v1/documents/reindex（index=NAME）",
        ),
    },
    "chat_store_fault": {
        "en": "The chat store {location} is faulty. Restore it from a copy, or move it away to begin anew.",
        "zh": "会话存储 {location} 有问题。请从备份恢复，或移走它后重新开始。",
    },
    "chat_store_unavailable": {
        "en": "The chat store {location} cannot be used: {reason}. What was stored before is kept; see to it and try again.",
        "zh": "会话存储 {location} 无法使用：{reason}。先前存入的内容都在，请处理后重试。",
    },
    "chat_store_damaged": {
        "en": "The chat store {location} cannot be read: {reason}. Restore it from a copy, or move it away to begin anew.",
        "zh": "无法读取会话存储 {location}：{reason}。请从备份恢复，或移走它后重新开始。",
    },
    "chat_store_version_mismatch": {
        "en": "The chat store {location} has the form {found}, this version knows forms up to {expected}. Install a newer responsa.",
        "zh": "会话存储 {location} 的格式是 {found}，本版本最高支持 {expected}。请安装更新的 responsa。",
    },
    "session_not_found": {
        "en": "There is no session {session} in the chat store {location}. Name one that it holds, or begin a new one.",
        "zh": "会话存储 {location} 中没有会话 {session}。请指定已有的会话，或新建一个。",
    },
    "message_not_found": {
        "en": "The session {session} in the chat store {location} has no message {message}. Name one of its messages.",
        "zh": "会话存储 {location} 的会话 {session} 中没有消息 {message}。请指定其中已有的消息。",
    },
    "embedding_failed": {
        "en": "Embedding failed: {reason}. Check the embedding model or its server, then run it again; what was embedded is kept.",
        "zh": "嵌入失败：{reason}。请检查嵌入模型或其服务器，然后重新运行；已嵌入的内容都在。",
    },
    "reading_failed": {
        "en": "{path}: {reason}",
        "zh": "{path}：{reason}",
    },
    "local_server_failed": {
        "en": "The model server is not running: {reason}. Check the model file, the port and the free memory, then start it again.",
        "zh": "模型服务器没有运行：{reason}。请检查模型文件、端口和可用内存，然后重新启动。",
    },
    "model_fetch_failed": {
        "en": "The model {name} could not be fetched: {reason}. See to that and run it again, or give a GGUF file that you have.",
        "zh": "无法获取模型 {name}：{reason}。请处理后重试，或使用已有的 GGUF 文件。",
    },
    "queue_full": {
        "en": "{waiting} questions are waiting, as many as may. Ask again in {retry_after} s.",
        "zh": "已有 {waiting} 个问题在排队，达到上限。请在 {retry_after} 秒后重试。",
    },
    "feedback_not_found": {
        "en": "There is no feedback {feedback_id}. See what there is with GET /v1/feedback.",
        "zh": "没有反馈 {feedback_id}。请用 GET /v1/feedback 查看已有的反馈。",
    },
    "document_not_found": {
        "en": "There is no document {document_id}. See what there is with GET /v1/documents.",
        "zh": "没有文档 {document_id}。请用 GET /v1/documents 查看已有的文档。",
    },
    "document_refused": {
        "en": "None of the files can be read: {faults}. Send Markdown, text, HTML, PDF, DOCX or JSON lines.",
        "zh": "所有文件都无法读取：{faults}。请发送 Markdown、文本、HTML、PDF、DOCX 或 JSON 行文件。",
    },
    "job_not_found": {
        "en": "There is no job {job_id}. See what there is with GET /v1/jobs.",
        "zh": "没有任务 {job_id}。请用 GET /v1/jobs 查看已有的任务。",
    },
    "jobs_full": {
        "en": "{waiting} jobs are waiting, {limit} may. Wait until some are done, or cancel some.",
        "zh": "已有 {waiting} 个任务在等待，上限为 {limit}。请等待其中一些完成，或取消一些。",
    },
    "job_not_runnable": {
        "en": "The job {job_id} is {state}. Run one again that failed, was cancelled or interrupted.",
        "zh": "任务 {job_id} 的状态是 {state}。请只重新运行失败、已取消或已中断的任务。",
    },
    "records_unavailable": {
        "en": "The service's records in {path} cannot be used: {reason}. Check that the file is there and can be written, and start the service again.",
        "zh": "无法使用 {path} 中的服务记录：{reason}。请检查该文件存在且可写，然后重新启动服务。",
    },
    "part_silent": {
        "en": "It gave no sign within {seconds} s. See whether it is overloaded, or cannot be reached.",
        "zh": "{seconds} 秒内没有回应。请检查它是否过载，或无法连接。",
    },
    "session_busy": {
        "en": "{waiting} messages of this conversation are waiting for their turn, as many as may. Wait until some are answered.",
        "zh": "此对话已有 {waiting} 条消息在等待，达到上限。请等待其中一些得到回答。",
    },
    "answer_stopped": {
        "en": "The answer was stopped before its end. Ask again for a whole one.",
        "zh": "回答在完成前被停止。请重新提问以获得完整的回答。",
    },
    "stream_too_slow": {
        "en": "The stream was read too slowly: {count} of its events are lost. Ask again without streaming.",
        "zh": "读取流的速度过慢，已丢失 {count} 个事件。请改用非流式方式重试。",
    },
    "service_ending": {
        "en": "The service was ended before the answer was; what has come of it is incomplete. Ask again.",
        "zh": "服务在回答完成前已停止，收到的内容不完整。请重试。",
    },
    "limits_unavailable": {
        "en": "Requests cannot be counted in {path}: {reason}. Check the disk and the file's permissions.",
        "zh": "无法在 {path} 中记录请求次数：{reason}。请检查磁盘和文件权限。",
    },
    "internal_error": {
        "en": "The service failed unexpectedly. See its log, then ask again.",
        "zh": "服务出现意外错误。请查看服务日志，然后重试。",
    },
    "keys_damaged": {
        "en": "The file of keys {path} cannot be used: {reason}. Put it right, or move it away and make new keys.",
        "zh": "无法使用密钥文件 {path}：{reason}。请修复它，或移走后重新创建密钥。",
    },
    "key_not_found": {
        "en": "There is no key {key_id}. See: responsa keys list",
        "zh": "没有密钥 {key_id}。请查看：responsa keys list",
    },
}

# What a journal may not hold, by the `missing` of `JournalIncomplete`.
JOURNAL_PARTS: Final[dict[str, Translations]] = {
    "answer": {"en": 'the answer to "{excerpt}"', "zh": "对“{excerpt}”的回答"},
    "tokens": {"en": 'the tokens of "{excerpt}"', "zh": "“{excerpt}”的词元数"},
    "prompt": {"en": 'the tokens of the prompt "{excerpt}"', "zh": "提示“{excerpt}”的词元数"},
    "metadata": {"en": "what the model says of itself (its window and slots)", "zh": "模型的自述（窗口与槽位）"},
}

# Why a file was not read, or what is missing from one that was: by the `reason` of `ReadingFailed` and of a report's notes.
READING_REASONS: Final[dict[str, Translations]] = {
    "missing": {"en": "there is no such file", "zh": "没有这个文件"},
    "empty": {"en": "the file is empty", "zh": "文件是空的"},
    "no_text": {"en": "the file has no text", "zh": "文件里没有文字"},
    "scanned": {
        "en": "the PDF has no text, only pictures of its pages; make it searchable (OCR) first",
        "zh": "这个 PDF 没有文字，只有页面图片；请先做文字识别（OCR）",
    },
    "encrypted": {
        "en": "the file is protected by a password; save a copy without one",
        "zh": "文件有密码保护；请另存一份不带密码的副本",
    },
    "damaged": {"en": "the file is damaged ({detail})", "zh": "文件已损坏（{detail}）"},
    "binary": {"en": "the file is not text ({detail})", "zh": "不是文本文件（{detail}）"},
    "unsupported": {
        "en": "{detail} is not read; save it as DOCX, PDF, HTML, Markdown or text",
        "zh": "不支持 {detail}；请另存为 DOCX、PDF、HTML、Markdown 或纯文本",
    },
    "wrong_encoding": {"en": "the text is not {detail}", "zh": "文本不是 {detail} 编码"},
    "unknown_encoding": {
        "en": "the text's encoding is not known; name it (encoding=...) or save the file as UTF-8",
        "zh": "无法识别文本编码；请指定 encoding，或将文件存为 UTF-8",
    },
    "missing_extra": {
        "en": "{detail} is needed to read it; run: pip install 'responsa[documents]'",
        "zh": "读取它需要 {detail}；请运行：pip install 'responsa[documents]'",
    },
    "no_entries": {
        "en": "no line is a knowledge entry: a JSON object with a question or an answer",
        "zh": "没有一行是知识条目：应为带 question 或 answer 的 JSON 对象",
    },
    "too_large": {
        "en": "the file has {detail} bytes, more than the limit (max_file_bytes)",
        "zh": "文件有 {detail} 字节，超过上限（max_file_bytes）",
    },
    "unpacks_too_large": {
        "en": "the file unpacks to more than {detail} bytes, the limit (max_file_bytes)",
        "zh": "文件解压后超过上限 {detail} 字节（max_file_bytes）",
    },
    "too_many_tags": {
        "en": "the file has more than {detail} tags; split it into smaller files",
        "zh": "文件的标签超过 {detail} 个；请拆分成较小的文件",
    },
    "too_nested": {
        "en": "the file's parts are nested too deeply to be read",
        "zh": "文件内部嵌套过深，无法读取",
    },
    "unreadable": {"en": "it cannot be opened ({detail})", "zh": "无法打开（{detail}）"},
    "special_file": {
        "en": "it is a pipe, socket or device, not a file",
        "zh": "这是管道、套接字或设备，不是文件",
    },
    "directory": {"en": "it is a directory; give it as input_dir", "zh": "这是一个目录；请用 input_dir 指定"},
    "broken_link": {"en": "the link leads nowhere", "zh": "链接指向的目标不存在"},
    "link_loop": {"en": "the link leads back to a directory already read", "zh": "链接指回已读过的目录"},
    "link_outside": {
        "en": "the link leads out of the directory; name its target as an input to read it",
        "zh": "链接指向目录之外；如需读取，请直接指定其目标",
    },
    "pages_without_text": {
        "en": "pages without text, only pictures: {detail}",
        "zh": "这些页没有文字，只有图片：{detail}",
    },
    "lines_skipped": {
        "en": "lines that are no knowledge entries: {detail}",
        "zh": "这些行不是知识条目：{detail}",
    },
    "extra_left_out": {
        "en": "entries whose extra was left out, for it is no object or too large: {detail}",
        "zh": "这些条目的 extra 不是对象或过大，已略去：{detail}",
    },
    "characters_replaced": {
        "en": "{detail} characters could not be decoded",
        "zh": "有 {detail} 个字符无法解码",
    },
    "pages_cut": {
        "en": "pages cut after their first characters, for they have too many: {detail}",
        "zh": "这些页的文字过多，只读取了开头：{detail}",
    },
    "pages_left_out": {
        "en": "only the first {detail} pages were read",
        "zh": "只读取了前 {detail} 页",
    },
}
