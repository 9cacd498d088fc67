import { describe, expect, it } from 'vitest';
import { digestOf } from '../../../../../src/model/digest.ts';
import { nodeName } from '../../../../../src/model/node.ts';
import { gatewayFiles, wantedGateways } from '../../../../../src/rack/placement/endpoint/gateways.ts';
import { fleetOfDriver } from '../../../../rack/placements.ts';

const gateway = {
  name: 'gateway',
  archive: '/dist/node.tar.gz',
  program: 'node/bin/node',
  extras: [],
  sha256: digestOf('node'),
  digest: digestOf('node'),
};

/** The gateway configuration for one published placement. */
function configOf(driver: string, proxies?: readonly string[], replica = {}): string {
  const publication = { servedName: 'kimi', ...(proxies && { proxies }) };
  const fleet = { ...fleetOfDriver(driver, { placement: { publication, ...replica } }), gateway };
  return wantedGateways(fleet, nodeName('studio-1'))
    .flatMap((wanted) => gatewayFiles(fleet, wanted).config)
    .filter((part) => typeof part === 'string')
    .join('');
}

const gatewayPlists = (fleet: Parameters<typeof wantedGateways>[0]): string =>
  wantedGateways(fleet, nodeName('studio-1'))
    .flatMap((wanted) => gatewayFiles(fleet, wanted).plist)
    .filter((part) => typeof part === 'string')
    .join('');

describe('the gateway configuration', () => {
  it("contains the driver's rules for its runtime", () => {
    const images = '"fetchesImages":true,"endsStreams":true';
    const ofMlx = configOf('mlx');
    expect(ofMlx).toContain(
      `"cancels":"never","maxRequests":1,"paths":["/v1/chat/completions","/v1/completions"],"refusedFields":["draft_model","adapters","num_draft_tokens"],"forms":{"chat_template_kwargs":`,
    );
    expect(ofMlx).toContain('"model":"default_model","ownPaths":["/v1/chat/completions"],');
    expect(ofMlx).toContain('"ownFile": "');
    expect(ofMlx).toContain(`"stop":{"kind":"texts"},`);
    expect(ofMlx).toContain(`"refusesNull":true,${images},"deadError":"generation thread died"}`);
    expect(configOf('mlx', undefined, { nodes: [nodeName('studio-1')] })).toContain('"cancels":"streams"');
    expect(configOf('exo')).toContain(
      `"paths":["/v1/chat/completions","/v1/messages","/v1/responses"],${images},"deadError":"No instance found for model"}`,
    );
    expect(configOf('llamacpp-rpc')).toContain('"cancels":"always","maxRequests":1,"endsStreams":true}');
    expect(configOf('command')).toContain('"cancels":"always","maxRequests":1}');
  });

  it('listens on every address only for a published placement', () => {
    const plistOf = (publication: object) =>
      gatewayPlists({
        ...fleetOfDriver('mlx', { placement: { publication: { servedName: 'kimi', ...publication } } }),
        gateway,
      });
    expect(plistOf({})).toContain('<string>0.0.0.0:8080</string>');
    expect(plistOf({ isLocal: true })).toContain('<string>127.0.0.1:8080</string>');
  });

  it('lists proxies in order, and has a folder of replicas only for a replica', () => {
    expect(configOf('mlx', ['10.0.0.6', '10.0.0.5'])).toContain('"proxies": ["10.0.0.5","10.0.0.6"]');
    expect(configOf('mlx')).not.toContain('proxies');
    expect(configOf('mlx', [], { replica: { of: 'all', at: 0 } })).toContain('"replicasFolder": "');
    expect(configOf('mlx')).not.toContain('replicasFolder');
  });
});
