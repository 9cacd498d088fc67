import { describe, expect, it } from 'vitest';
import { diagnose } from '../../../../src/diagnostics/diagnose.ts';
import { diagnoseFleet } from '../../../../src/engine/diagnose/diagnose-fleet.ts';
import { rules } from '../../../../src/engine/diagnose/rules.ts';
import { nodeName } from '../../../../src/model/node.ts';
import {
  linkSubject,
  namedSubject,
  nodeSubject,
  nodesSubject,
  receptacleSubject,
  type Subject,
  subjectNodes,
  subjectText,
} from '../../../../src/model/subject.ts';
import { desiredFleet, observedFleet, unknownNode } from '../../../rack/rack.ts';
import { onOnePage } from '../../one-page.ts';
import { findingsOf, told } from './told.ts';

const unreachable = diagnose('ssh/unreachable', {
  detail: 'studio-4.lan:22 did not answer.',
  subject: nodeSubject('studio-4'),
});

describe('the diagnosis of a fleet', () => {
  it('reports only the connection failure for an unreachable node', () => {
    const found = findingsOf({ unreachable: ['studio-4'], failures: { 'studio-4': [unreachable] } });
    expect(found).toEqual([unreachable]);
  });

  it('uses the node as the subject of a failure without a subject', () => {
    const { subject: _, ...bare } = unreachable;
    const found = findingsOf({ unreachable: ['studio-4'], failures: { 'studio-4': [bare] } });
    expect(found.map((one) => subjectText(one.subject))).toEqual(['node studio-4']);
  });

  it('lists unknown facts once per node with their reasons', () => {
    const unknown = { 'studio-2': { filevault: 'timed-out', 'disk-space': 'garbled', power: 'timed-out' } } as const;
    expect(findingsOf({ unknown }).map((one) => one.detail)).toEqual([
      'Unknown: disk-space (unexpected output); filevault, power (no answer in time).',
    ]);
  });

  it('omits truncated facts of a node that became unreachable', () => {
    const dropped = diagnose('ssh/unreachable', { detail: 'It broke off.', subject: nodeSubject('studio-2') });
    const unknown = { 'studio-2': { filevault: 'truncated', power: 'tool-missing' } } as const;
    const found = findingsOf({ unknown, failures: { 'studio-2': [dropped] } });
    expect(found.map((one) => one.detail)).toEqual(['It broke off.', 'Unknown: power (the tool is missing).']);
  });

  it('reports nothing but ssh/dropped for a dropped connection', () => {
    const dropped = diagnose('ssh/dropped', { detail: 'It broke off.', subject: nodeSubject('studio-2') });
    const unknown = { 'studio-2': { filevault: 'truncated', power: 'tool-missing' } } as const;
    expect(findingsOf({ unknown, failures: { 'studio-2': [dropped] } })).toEqual([dropped]);
  });

  it('reports nothing for an unknown optional fact', () => {
    const unknown = { 'studio-1': { 'receptacle-places': 'empty' as const } };
    expect(diagnoseFleet(desiredFleet(), observedFleet({ unknown }))).toEqual([]);
  });

  it('reports only fact/unknown if every fact is unknown', () => {
    const names = ['studio-1', 'studio-2', 'studio-3', 'studio-4'];
    const nodes = Object.fromEntries(names.map((name) => [name, unknownNode(name, 'garbled')]));
    const found = diagnoseFleet(desiredFleet(), { nodes, failures: {} });
    expect(found.map((one) => one.code)).toEqual(names.map(() => 'fact/unknown'));
  });

  it('reports nothing about nodes that were not observed', () => {
    const { nodes } = observedFleet();
    const some = Object.fromEntries(Object.entries(nodes).slice(0, 2));
    expect(diagnoseFleet(desiredFleet(), { nodes: some, failures: {} })).toEqual([]);
  });

  it('is sorted by node, then severity, then code', () => {
    const found = told({
      cables: [],
      values: {
        'studio-1': { sudo: 'denied', filevault: 'on' },
        'studio-2': {
          sudo: 'denied',
          'rdma-state': 'disabled',
          'rdma-devices': [],
          clock: { offsetMs: 9e6, uncertaintyMs: 1 },
        },
      },
    });
    expect(found).toEqual([
      'error cabling/missing link studio-1:2 <-> studio-2:2',
      'error cabling/missing link studio-1:3 <-> studio-3:2',
      'error cabling/missing link studio-1:4 <-> studio-4:2',
      'warning sudo/denied node studio-1',
      'error cabling/missing link studio-2:3 <-> studio-3:3',
      'error cabling/missing link studio-2:4 <-> studio-4:3',
      'error rdma/disabled node studio-2',
      'warning clock/offset node studio-2',
      'warning sudo/denied node studio-2',
      'error cabling/missing link studio-3:4 <-> studio-4:4',
    ]);
  });

  it('includes each rule once', () => {
    expect(new Set(rules).size).toBe(rules.length);
  });
});

describe('the subject of a finding', () => {
  it('names its nodes in every form', () => {
    const ends = [
      { node: nodeName('studio-1'), receptacle: 2 },
      { node: nodeName('studio-4'), receptacle: 1 },
    ] as const;
    const nodesOf = (one: Subject): readonly unknown[] => [subjectText(one), ...subjectNodes(one)];
    expect(nodesOf(nodeSubject('studio-1'))).toEqual(['node studio-1', 'studio-1']);
    expect(nodesOf(nodesSubject(['studio-1', 'studio-3']))).toEqual([
      'nodes studio-1, studio-3',
      'studio-1',
      'studio-3',
    ]);
    expect(nodesOf(linkSubject(ends))).toEqual(['link studio-1:2 <-> studio-4:1', 'studio-1', 'studio-4']);
    expect(nodesOf(receptacleSubject(ends[0]))).toEqual(['receptacle studio-1:2', 'studio-1']);
    expect(nodesOf(namedSubject('a file'))).toEqual(['a file']);
  });
});

onOnePage('diagnose-fleet');
