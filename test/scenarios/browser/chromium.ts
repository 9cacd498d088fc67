import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';

/** A page of a headless browser. */
export interface Page {
  /** Opens a file and waits until it is loaded. */
  readonly open: (path: string, width: number, height: number) => Promise<void>;
  /** The value of an expression in the page, passed as JSON. The promise is rejected if the expression throws. */
  readonly evaluate: (expression: string) => Promise<unknown>;
  /** Sets the preferred color scheme of the page. */
  readonly prefer: (scheme: 'light' | 'dark') => Promise<void>;
  readonly close: () => Promise<void>;
}

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The first of these programs that is in PATH. */
export function findProgram(candidates: readonly string[]): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return candidates
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** The browser of this computer. @throws Error with instructions if no browser is installed */
function chromiumPath(): string {
  const path = process.env['MESHWRIGHT_CHROMIUM'] ?? findProgram(names);
  if (path !== undefined) return path;
  throw new Error(
    `This test needs Chromium, which is missing (${names.join(', ')}). ` +
      'Install it (Debian: apt-get install --no-install-recommends chromium), or name it in MESHWRIGHT_CHROMIUM.',
  );
}

interface Answer {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string };
}

interface Wire {
  readonly ask: (method: string, params?: object) => Promise<Readonly<Record<string, unknown>>>;
  readonly useSession: (id: string) => void;
  /** Resolves at the next event of this name. */
  readonly next: (event: string) => Promise<void>;
}

/** The DevTools protocol over two pipes: messages of JSON that end with a zero byte. */
function wireOf(child: ChildProcess): Wire {
  const [, , , input, output] = child.stdio as unknown as [null, null, null, Writable, Readable];
  const waiting = new Map<number, (answer: Answer) => void>();
  const listening = new Map<string, () => void>();
  let lastId = 0;
  let sessionId: string | undefined;
  let rest = '';
  output.setEncoding('utf8');
  output.on('data', (chunk: string) => {
    const messages = `${rest}${chunk}`.split('\0');
    rest = messages.pop() ?? '';
    for (const message of messages) {
      const answer = JSON.parse(message) as Answer;
      if (answer.id !== undefined) waiting.get(answer.id)?.(answer);
      if (answer.method !== undefined) listening.get(answer.method)?.();
    }
  });
  const ended = new Promise<never>((_, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`Chromium exited with ${code}`)));
  });
  ended.catch(() => undefined);
  const ask: Wire['ask'] = (method, params = {}) => {
    const id = ++lastId;
    const answered = new Promise<Readonly<Record<string, unknown>>>((resolve, reject) => {
      waiting.set(id, ({ result, error }) => {
        waiting.delete(id);
        if (error === undefined) resolve(result ?? {});
        else reject(new Error(`${method}: ${error.message}`));
      });
    });
    input.write(`${JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) })}\0`);
    return Promise.race([answered, ended]);
  };
  return {
    ask,
    useSession: (id) => {
      sessionId = id;
    },
    next: (event) => Promise.race([new Promise<void>((resolve) => listening.set(event, resolve)), ended]),
  };
}

async function evaluate({ ask }: Wire, expression: string): Promise<unknown> {
  const { result, exceptionDetails } = await ask('Runtime.evaluate', { expression, returnByValue: true });
  if (exceptionDetails !== undefined) throw new Error(`in the page: ${JSON.stringify(exceptionDetails)}`);
  return (result as { readonly value?: unknown }).value;
}

/** Starts headless Chromium with one page. Closing it removes its profile. */
export async function startChromium(): Promise<Page> {
  const profile = mkdtempSync(join(tmpdir(), 'mw-chromium-'));
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run'];
  const words = [...flags, '--hide-scrollbars', '--remote-debugging-pipe', `--user-data-dir=${profile}`];
  const child = spawn(chromiumPath(), words, { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'], detached: true });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const wire = wireOf(child);
  const { targetId } = await wire.ask('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await wire.ask('Target.attachToTarget', { targetId, flatten: true });
  wire.useSession(String(sessionId));
  await wire.ask('Page.enable');
  return {
    open: async (path, width, height) => {
      await wire.ask('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
      const loaded = wire.next('Page.loadEventFired');
      await wire.ask('Page.navigate', { url: `file://${path}` });
      await loaded;
    },
    evaluate: (expression) => evaluate(wire, expression),
    prefer: async (value) => {
      await wire.ask('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value }] });
    },
    close: async () => {
      const { pid } = child;
      await wire.ask('Browser.close').catch(() => undefined);
      await Promise.race([exited, new Promise((resolve) => setTimeout(resolve, 5_000).unref())]);
      // The browser's helper processes belong to its process group.
      if (pid !== undefined && child.exitCode === null) process.kill(-pid, 'SIGKILL');
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
