"""Asks endpoints as programs do that use openai, litellm or anthropic. Prints one JSON object for each: what each call returned."""

import json
import sys

import anthropic
import litellm
import openai

litellm.suppress_debug_info = True
messages = [{"role": "user", "content": "Tell me of the cable."}]


def streamed(chunks):
    texts = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
    return {"hasText": "".join(texts) != ""}


def chat(**more):
    return client.chat.completions.create(model=model, messages=messages, max_tokens=4, **more)


def lite(**more):
    return litellm.completion(
        model=f"openai/{model}", api_base=f"{url}/v1", api_key=key, messages=messages, max_tokens=4, **more
    )


def told(answer):
    return {"model": answer.model, "tokens": answer.usage.completion_tokens}


def spoken(name):
    answer = claude.messages.create(model=name, messages=messages, max_tokens=4)
    return {"model": answer.model, "tokens": answer.usage.output_tokens, "end": answer.stop_reason}


def spoken_stream():
    with claude.messages.stream(model=model, messages=messages, max_tokens=4) as stream:
        hasText = "".join(stream.text_stream) != ""
        return {"hasText": hasText, "end": stream.get_final_message().stop_reason}


calls = {
    "openai models": lambda: [one.id for one in client.models.list()],
    "openai chat": lambda: told(chat()),
    "openai nulls": lambda: told(chat(temperature=None, top_p=None, seed=None, extra_body={"stop": None})),
    "openai stream": lambda: streamed(chat(stream=True)),
    "openai empty": lambda: told(client.chat.completions.create(model=model, messages=[])),
    "openai responses": lambda: client.responses.create(model=model, input="Hi").status,
    "anthropic message": lambda: spoken(model),
    "anthropic stream": spoken_stream,
    "anthropic wrong": lambda: spoken("other"),
    "litellm chat": lambda: told(lite()),
    "litellm stream": lambda: streamed(lite(stream=True)),
    "litellm wrong": lambda: told(lite(temperature=-1)),
}


def result(call):
    try:
        return call()
    except Exception as error:
        return {"error": type(error).__name__, "text": str(error)}


results = []
for url, key, model, names in json.loads(sys.argv[1]):
    client = openai.OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0)
    # This client adds /v1 itself.
    claude = anthropic.Anthropic(base_url=url, api_key=key, max_retries=0)
    results.append({name: result(calls[name]) for name in names or calls})
print(json.dumps(results))
