import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { rightKey } from '../scenarios/test-gateway.ts';
import { pythonPackages } from './packages.ts';

const packages = pythonPackages('clients');

/** Whether the Python clients are installed. */
export const hasClients = packages !== undefined;

/** An endpoint, and the calls of `clients.py` to make; absent: all, as a client of a gateway. */
interface AskedEndpoint {
  readonly url: string;
  readonly key?: string;
  readonly model?: string;
  readonly calls?: readonly string[];
}

/** Asks endpoints by openai, litellm and anthropic, in one process. Returns what each call returned, by endpoint. */
export async function askByClients(
  ...endpoints: readonly AskedEndpoint[]
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const script = fileURLToPath(new URL('clients.py', import.meta.url));
  const asked = endpoints.map(({ url, key = rightKey, model = 'tiny', calls = [] }) => [url, key, model, calls]);
  // Otherwise litellm asks for prices on the internet.
  const env = { ...process.env, LITELLM_LOCAL_MODEL_COST_MAP: 'True' };
  const words = [script, JSON.stringify(asked)];
  const ran = await promisify(execFile)(join(packages ?? '', 'bin/python'), words, { encoding: 'utf8', env });
  return JSON.parse(ran.stdout) as readonly Readonly<Record<string, unknown>>[];
}
