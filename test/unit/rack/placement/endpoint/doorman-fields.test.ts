import { describe, expect, it } from 'vitest';
import { digestOf } from '../../../../../src/model/digest.ts';
import { nodeName } from '../../../../../src/model/node.ts';
import { doormanFiles, doormenOn } from '../../../../../src/rack/placement/endpoint/gateways.ts';
import { fleetOfDriver } from '../../../../rack/placements.ts';

const doorman = {
  name: 'doorman',
  archive: '/dist/node.tar.gz',
  program: 'node/bin/node',
  extras: [],
  sha256: digestOf('node'),
  digest: digestOf('node'),
};

/** What the doorman of one published placement is told of it. */
function configOf(driver: string, proxies?: readonly string[]): string {
  const publication = { servedName: 'kimi', ...(proxies && { proxies }) };
  const fleet = { ...fleetOfDriver(driver, { placement: { publication } }), doorman };
  return doormenOn(fleet, nodeName('studio-1'))
    .flatMap((wanted) => doormanFiles(fleet, wanted).config)
    .filter((part) => typeof part === 'string')
    .join('');
}

describe('fields of requests by which a runtime would load something else', () => {
  it('are refused by the doorman of mlx, which takes them with the name of the model', () => {
    expect(configOf('mlx')).toContain('"refusedFields":["draft_model","adapters","num_draft_tokens"]');
  });

  it.each(['command', 'exo', 'llamacpp-rpc'])('are not known of %s', (driver) => {
    expect(configOf(driver)).toContain('"servedName":"kimi"');
    expect(configOf(driver)).not.toContain('refusedFields');
  });
});

it('has the proxies of the file, each once, in the order of their text', () => {
  expect(configOf('mlx', ['10.0.0.6', '10.0.0.5'])).toContain('"proxies": ["10.0.0.5","10.0.0.6"]');
  expect(configOf('mlx')).not.toContain('proxies');
});
