// A small server with the parts of OpenAI's API that a placement needs, in front of a real llama.cpp from npm. The
// driver `command` starts it in test/scenarios/command-llama.slow.test.ts. Arguments: MODEL.gguf PORT CONTEXT.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { loadModel, toggleNativeLog } from '@fugood/llama.node';

const [model, port, context] = process.argv.slice(2);
await toggleNativeLog(false);
const open = () => loadModel({ model, n_ctx: Number(context), use_mmap: false });
let loaded = await open();

/** Answers are sequential, because a context has only one state. */
let turn = Promise.resolve();

const read = async (request) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
};

/** Lost contexts. Disposing of one would use memory that the library has freed. */
const lost = [];

/**
 * The library starts a completion before it marks its context as busy (`Queue` before `OnComplete` in
 * `LlamaContext::Completion`): a completion that ends before that leaves the mark forever. On a busy machine,
 * this happened to one of seven. Answers are sequential here, so a busy context is always a lost one.
 */
async function complete(options) {
  try {
    return await loaded.completion(options);
  } catch (error) {
    if (!String(error).includes('in progress')) throw error;
    lost.push(loaded);
    loaded = await open();
    return await loaded.completion(options);
  }
}

/** Each of the two endpoints has a separate key; a request with the other endpoint's key is a client's mistake. */
async function answerTo(request, response, isChat) {
  const { messages, prompt, max_tokens: count = 16, model: name } = await read(request);
  if (
    isChat ? !Array.isArray(messages) || prompt !== undefined : typeof prompt !== 'string' || messages !== undefined
  ) {
    response.statusCode = 400;
    response.end(JSON.stringify({ error: { message: `this takes ${isChat ? 'messages' : 'a prompt'}` } }));
    return;
  }
  const asked = isChat ? { messages } : { prompt };
  const answer = turn.then(() => complete({ ...asked, n_predict: count, temperature: 0, seed: 0 }));
  turn = answer.then(
    () => undefined,
    () => undefined,
  );
  const { text, tokens_predicted: made } = await answer;
  const said = isChat ? { message: { role: 'assistant', content: text } } : { text };
  const body = {
    object: isChat ? 'chat.completion' : 'text_completion',
    model: name,
    choices: [{ index: 0, ...said, finish_reason: 'length' }],
    usage: { completion_tokens: made },
  };
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(body));
}

const server = createServer((request, response) => {
  if (request.method !== 'POST' || !['/v1/chat/completions', '/v1/completions'].includes(request.url)) {
    response.statusCode = 404;
    response.end();
    return;
  }
  answerTo(request, response, request.url === '/v1/chat/completions').catch((error) => {
    console.error(error);
    response.statusCode = 500;
    response.end(JSON.stringify({ error: { message: String(error) } }));
  });
});

/** Simulated Macs on one computer share its loopback interface, so a table maps the port. */
function placeOf(address) {
  const table = process.env.MESHWRIGHT_LINK_TABLE;
  if (table === undefined) return address;
  const lines = readFileSync(table, 'utf8').split('\n');
  return lines.find((line) => line.startsWith(`${address} `))?.split(' ')[1] ?? address;
}
server.listen(Number(placeOf(`127.0.0.1:${port}`).split(':')[1]), '127.0.0.1');
