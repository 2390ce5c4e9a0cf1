"""What the doctor's rows say, in English and Chinese. `{name}` stands for one of a finding's values."""

from __future__ import annotations

from typing import Final

ROWS: Final[dict[str, dict[str, str]]] = {
    "reachable": {"en": "reachable", "zh": "可连接"},
    "loading": {"en": "model loaded", "zh": "模型已加载"},
    "address": {"en": "address", "zh": "地址"},
    "key": {"en": "API key", "zh": "API 密钥"},
    "model": {"en": "model id", "zh": "模型 id"},
    "window": {"en": "window", "zh": "窗口"},
    "chat_template": {"en": "chat template", "zh": "对话模板"},
    "template_echo": {"en": "template echo", "zh": "模板回显"},
    "reasoning": {"en": "reasoning", "zh": "思考内容"},
    "json_schema": {"en": "JSON schema", "zh": "JSON Schema"},
    "streaming": {"en": "streaming", "zh": "流式输出"},
    "speed": {"en": "speed", "zh": "速度"},
    "prompt_cache": {"en": "prompt cache", "zh": "提示缓存"},
    "dimension": {"en": "dimensions", "zh": "向量维数"},
    "prefix": {"en": "query and passage", "zh": "查询与资料前缀"},
}

DETAILS: Final[dict[str, dict[str, str]]] = {
    "not_checked": {"en": "not checked", "zh": "未检查"},
    "time_up": {"en": "no answer before the time of {seconds} s was up", "zh": "{seconds} 秒内没有得到回答"},
    "probe_failed": {"en": "could not be looked at: {error}", "zh": "无法检查：{error}"},
    # Reaching the server.
    "answers": {"en": "{url} answers", "zh": "{url} 有应答"},
    "unreachable": {"en": "nothing answers at {url} ({reason})", "zh": "{url} 没有应答（{reason}）"},
    "silent": {
        "en": "{url} takes the connection and says nothing for {seconds} s",
        "zh": "{url} 接受了连接，但 {seconds} 秒内没有应答",
    },
    "fails": {"en": "{url} answers with HTTP {status}: {message}", "zh": "{url} 返回 HTTP {status}：{message}"},
    "rate_limited": {"en": "{url} refuses more requests for now", "zh": "{url} 暂时拒绝更多请求"},
    "loaded": {"en": "yes", "zh": "是"},
    "loading": {"en": "it is still being loaded", "zh": "仍在加载"},
    "right_address": {"en": "{url}", "zh": "{url}"},
    "v1_missing": {
        "en": "{url} is not a model server's address, {url}/v1 is",
        "zh": "{url} 不是模型服务器的地址，{url}/v1 才是",
    },
    "v1_left_out": {
        "en": "{url} answers messages, but not every request in OpenAI's form",
        "zh": "{url} 能应答对话消息，但并非所有请求都符合 OpenAI 的格式",
    },
    "other_server": {
        "en": "what answers at {url} is no OpenAI-compatible server: {reason}",
        "zh": "在 {url} 应答的不是兼容 OpenAI 的服务器：{reason}",
    },
    "no_such_address": {"en": "{url} does not exist (HTTP {status})", "zh": "{url} 不存在（HTTP {status}）"},
    "key_accepted": {"en": "accepted", "zh": "已接受"},
    "no_key_needed": {"en": "none is sent, none is asked for", "zh": "没有发送，服务器也不要求"},
    "key_refused": {"en": "not accepted", "zh": "不被接受"},
    "key_missing": {"en": "the server asks for one, and none is sent", "zh": "服务器要求密钥，但没有发送"},
    "model_served": {"en": "{model}", "zh": "{model}"},
    "model_not_listed": {
        "en": "{model} is not among the served ids: {served}",
        "zh": "{model} 不在所提供的 id 之中：{served}",
    },
    "model_refused": {"en": "the server has no model {model}", "zh": "服务器没有模型 {model}"},
    "no_models_listed": {"en": "the server does not list what it serves", "zh": "服务器没有列出所提供的模型"},
    "several_models": {
        "en": "none is named, several are served: {served}; {model} is taken",
        "zh": "没有指定，而服务器提供多个：{served}；将使用 {model}",
    },
    # Answers.
    "window_served": {"en": "{n_ctx} tokens a slot, slots: {slots}", "zh": "每个槽位 {n_ctx} 个词元，槽位数：{slots}"},
    "window_below_served": {
        "en": "{asked} of the {n_ctx} tokens a slot has are used, slots: {slots}",
        "zh": "每个槽位有 {n_ctx} 个词元，使用其中 {asked} 个，槽位数：{slots}",
    },
    "window_as_set": {
        "en": "{asked} tokens as configured; the server does not tell its own",
        "zh": "按设置为 {asked} 个词元；服务器没有说明自己的窗口",
    },
    "window_above_served": {
        "en": "{asked} tokens are configured, a slot has {n_ctx}",
        "zh": "设置为 {asked} 个词元，而每个槽位只有 {n_ctx} 个",
    },
    "window_small": {
        "en": "{n_ctx} tokens a slot, slots: {slots}; that leaves little room for passages",
        "zh": "每个槽位 {n_ctx} 个词元，槽位数：{slots}；留给资料的空间很少",
    },
    "window_unknown": {
        "en": "the server does not tell; {assumed} tokens are assumed",
        "zh": "服务器没有说明；假定为 {assumed} 个词元",
    },
    "roles_accepted": {
        "en": "there; system, user and assistant messages are accepted",
        "zh": "有；接受 system、user 和 assistant 消息",
    },
    "roles_lost": {
        "en": "messages of these roles are left out of the prompt: {roles}",
        "zh": "提示中缺少这些角色的消息：{roles}",
    },
    "roles_refused": {
        "en": "messages of these roles are refused: {roles} ({message})",
        "zh": "拒绝这些角色的消息：{roles}（{message}）",
    },
    "messages_refused": {"en": "messages are refused: {message}", "zh": "拒绝对话消息：{message}"},
    "no_template": {"en": "the model has none", "zh": "模型没有对话模板"},
    "wrong_template": {
        "en": "it is not the model's own: {mark} stands in the answer",
        "zh": "与模型不符：回答中出现了 {mark}",
    },
    "template_unused": {"en": "there, but not used (completions)", "zh": "有，但没有使用（completions）"},
    "echo": {
        "en": "the model is asked without its chat template, and writes: {text}",
        "zh": "没有使用对话模板提问，模型写出：{text}",
    },
    "no_echo": {"en": "asked through completions it writes: {text}", "zh": "通过 completions 提问，模型写出：{text}"},
    "echo_if_completed": {
        "en": "messages are used; with is_chat_model=False it would write: {text}",
        "zh": "使用对话消息；若设 is_chat_model=False，模型会写出：{text}",
    },
    "no_echo_if_completed": {
        "en": "messages are used; also with is_chat_model=False it writes an answer: {text}",
        "zh": "使用对话消息；即使设 is_chat_model=False，模型也会写出回答：{text}",
    },
    "no_completions": {
        "en": "messages are used; the server has no completions (HTTP {status})",
        "zh": "使用对话消息；服务器没有 completions（HTTP {status}）",
    },
    "no_reasoning": {"en": "none seen", "zh": "没有出现"},
    "reasoning_apart": {"en": "in a field of its own: {field}", "zh": "在单独的字段中：{field}"},
    "reasoning_in_text": {
        "en": "inside the text, in <think> tags; it is taken out",
        "zh": "在文本的 <think> 标签中；会被分离出来",
    },
    "reasoning_long": {
        "en": "the model was still reasoning ({field}) when its tokens were used up",
        "zh": "词元用完时模型仍在思考（{field}）",
    },
    "schema_enforced": {"en": "the answer is held to it", "zh": "回答受其约束"},
    "schema_ignored": {"en": "accepted but not kept to: {text}", "zh": "接受但没有遵守：{text}"},
    "schema_refused": {"en": "refused: {message}", "zh": "被拒绝：{message}"},
    "schema_impossible": {
        "en": "this server takes none with completions",
        "zh": "该服务器的 completions 不支持",
    },
    "schema_undecided": {
        "en": "not checked: the tokens were used up before the answer",
        "zh": "未检查：得到回答之前词元已用完",
    },
    "no_answer": {"en": "no answer: {error}", "zh": "没有回答：{error}"},
    "empty_answer": {"en": "the answer has no text", "zh": "回答中没有文字"},
    "answer_too_short": {
        "en": "not checked: the answer has only {tokens} tokens",
        "zh": "未检查：回答只有 {tokens} 个词元",
    },
    "incremental": {
        "en": "the answer came in {reads} reads, spread over {seconds} s",
        "zh": "回答分 {reads} 次到达，历时 {seconds} 秒",
    },
    "in_one_piece": {
        "en": "the whole answer came at once after {seconds} s",
        "zh": "整个回答在 {seconds} 秒后一次到达",
    },
    "speed": {
        "en": "first token after {first} s; {read} prompt tokens/s, {written} answer tokens/s",
        "zh": "首个词元 {first} 秒；提示 {read} 词元/秒，回答 {written} 词元/秒",
    },
    "slow": {
        "en": "first token after {first} s; {read} prompt tokens/s, only {written} answer tokens/s",
        "zh": "首个词元 {first} 秒；提示 {read} 词元/秒，回答只有 {written} 词元/秒",
    },
    "cache_hit": {
        "en": "{cached} of {tokens} tokens of a second prompt came from it",
        "zh": "第二个提示的 {tokens} 个词元中有 {cached} 个来自缓存",
    },
    "cache_missed": {
        "en": "of {tokens} tokens of a second prompt with the same beginning only {cached} came from it",
        "zh": "第二个提示开头相同，{tokens} 个词元中只有 {cached} 个来自缓存",
    },
    "cache_untold": {"en": "not checked: the server does not tell", "zh": "未检查：服务器没有说明"},
    # Vectors.
    "no_vector": {"en": "no vector: {error}", "zh": "没有得到向量：{error}"},
    "dimension_alone": {"en": "{dimensions}; there is no index to compare with", "zh": "{dimensions}；没有索引可比较"},
    "dimension_fits": {"en": "{dimensions}, as the index has", "zh": "{dimensions}，与索引一致"},
    "dimensions_ignored": {
        "en": "{asked} were asked for, the server gives {dimensions}",
        "zh": "要求 {asked}，服务器给出 {dimensions}",
    },
    "index_of_other_model": {
        "en": "the index was built with {index_model}, not with {model}",
        "zh": "索引是用 {index_model} 建立的，不是 {model}",
    },
    "index_of_other_dimension": {
        "en": "the vectors have {dimensions} numbers, those of the index {index_dimensions}",
        "zh": "向量有 {dimensions} 维，索引中的有 {index_dimensions} 维",
    },
    "prefix_set": {
        "en": "told apart as {model} wants it: “{query}”, “{text}”",
        "zh": "已按 {model} 的要求区分：“{query}”、“{text}”",
    },
    "told_apart_by_server": {"en": "told apart by the server", "zh": "由服务器区分"},
    "no_prefix_known": {"en": "{model} is not known to want a prefix", "zh": "没有资料表明 {model} 需要前缀"},
    "prefix_missing": {
        "en": "queries and passages are not told apart, which {model} was trained for",
        "zh": "没有区分查询与资料，而 {model} 在训练时是区分的",
    },
    "prefix_wrong": {
        "en": "the prefixes set are not those that {model} was trained with",
        "zh": "所设前缀与 {model} 训练时的不同",
    },
    "prefix_twice": {
        "en": "the server puts prefixes in place itself: with those set they stand there twice",
        "zh": "服务器会自行加前缀：再设置就重复了",
    },
    "input_type_missing": {
        "en": "the server tells queries and passages apart, but is not told which is which",
        "zh": "服务器会区分查询与资料，但没有告诉它是哪一种",
    },
}
