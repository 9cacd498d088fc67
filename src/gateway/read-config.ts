import { readFile } from 'node:fs/promises';
import type { FieldForm, GatewayConfig, GatewayUpstream } from '../model/gateway.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads the configuration from the gateway's arguments: the path of its file, the address that it listens on, such as
 * `0.0.0.0:8080`, and the version of its files.
 * @throws Error if an argument is invalid; launchd then starts the gateway again, and its log shows the reason
 */
export async function readGatewayConfig(path: string, listen: string, version?: string): Promise<GatewayConfig> {
  const config = parseGatewayConfig(JSON.parse(await readFile(path, 'utf8')), listen);
  return version === undefined ? config : { ...config, version };
}

/** Parses the configuration's JSON. @throws Error that names the invalid field */
export function parseGatewayConfig(document: unknown, listen: string): GatewayConfig {
  const config = fieldsOf(document, 'the file');
  const [, address = '', port] = /^(\d{1,3}(?:\.\d{1,3}){3}):(\d{1,5})$/.exec(listen) ?? [];
  if (port === undefined) throw new Error('listen is no address with a port');
  const upstreams = config['upstreams'];
  if (!Array.isArray(upstreams) || upstreams.length === 0) throw new Error('upstreams is no list, or empty');
  return {
    listen: { address, port: Number(port) },
    upstreams: upstreams.map((one, at) => upstreamOf(fieldsOf(one, `upstreams/${at}`))),
    keysFolder: textOf(config, 'keysFolder'),
    closedFolder: textOf(config, 'closedFolder'),
    countsFile: textOf(config, 'countsFile'),
    ...(config['ownFile'] === undefined ? {} : { ownFile: textOf(config, 'ownFile') }),
    ...(config['replicasFolder'] === undefined ? {} : { replicasFolder: textOf(config, 'replicasFolder') }),
    proxies: config['proxies'] === undefined ? [] : namesOf(config, 'proxies'),
  };
}

const upstreamOf = (one: Fields): GatewayUpstream => ({
  placement: textOf(one, 'placement'),
  servedName: textOf(one, 'servedName'),
  port: countOf(one, 'port'),
  model: textOf(one, 'model'),
  cancels: one['cancels'] === 'always' || one['cancels'] === 'streams' ? one['cancels'] : 'never',
  maxRequests: countOf(one, 'maxRequests'),
  ...(one['ownPaths'] === undefined ? {} : { ownPaths: namesOf(one, 'ownPaths') }),
  ...(one['paths'] === undefined ? {} : { paths: namesOf(one, 'paths') }),
  ...(one['refusedFields'] === undefined ? {} : { refusedFields: namesOf(one, 'refusedFields') }),
  ...(one['forms'] === undefined ? {} : { forms: formsOf(fieldsOf(one['forms'], 'forms')) }),
  ...(one['refusesNull'] === true ? { refusesNull: true } : {}),
  ...(one['fetchesImages'] === true ? { fetchesImages: true } : {}),
  ...(one['endsStreams'] === true ? { endsStreams: true } : {}),
  ...(one['deadError'] === undefined ? {} : { deadError: textOf(one, 'deadError') }),
});

const formKinds = ['text', 'texts', 'number', 'token-biases', 'object'] satisfies readonly FieldForm['kind'][];

/** Checks the field forms that the driver declares. */
function formsOf(forms: Fields): Readonly<Record<string, FieldForm>> {
  for (const [name, form] of Object.entries(forms)) {
    const { kind } = fieldsOf(form, `forms/${name}`);
    if (!formKinds.some((one) => one === kind)) throw new Error(`forms/${name} has no known kind`);
  }
  return forms as Readonly<Record<string, FieldForm>>;
}

function namesOf(fields: Fields, name: string): readonly string[] {
  const value = fields[name];
  const isText = (one: unknown): one is string => typeof one === 'string';
  if (!Array.isArray(value) || !value.every(isText)) throw new Error(`${name} is no list of texts`);
  return value;
}

function fieldsOf(value: unknown, name: string): Fields {
  if (typeof value !== 'object' || value === null) throw new Error(`${name} is no object`);
  return value as Fields;
}

function textOf(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value !== 'string' || value === '') throw new Error(`${name} is no text`);
  return value;
}

function countOf(fields: Fields, name: string): number {
  const value = fields[name];
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) throw new Error(`${name} is no number`);
  return value;
}
