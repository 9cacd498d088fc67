import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { rightKey } from '../scenarios/test-gateway.ts';
import { pythonPackages } from './packages.ts';

const packages = pythonPackages('clients');

/** Whether the Python clients are installed. */
export const hasClients = packages !== undefined;

/** Asks an endpoint by openai, litellm and anthropic, and returns what each call of `clients.py` returned. */
export async function askByClients(url: string): Promise<Readonly<Record<string, unknown>>> {
  const script = fileURLToPath(new URL('clients.py', import.meta.url));
  const words = [script, `${url}/v1`, rightKey];
  // Otherwise litellm asks for prices on the internet.
  const env = { ...process.env, LITELLM_LOCAL_MODEL_COST_MAP: 'True' };
  const ran = await promisify(execFile)(join(packages ?? '', 'bin/python'), words, { encoding: 'utf8', env });
  return JSON.parse(ran.stdout) as Readonly<Record<string, unknown>>;
}
