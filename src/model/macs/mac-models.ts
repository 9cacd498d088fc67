import type { MacModel } from './mac-model.ts';
import { macTable } from './mac-table.ts';

const modelsById: ReadonlyMap<string, MacModel> = new Map(
  macTable.flatMap(({ ids, family, ...row }) => ids.map((id) => [id, { ...row, name: `${family} (${row.chip})` }])),
);

/** The identifiers (`hw.model`) of every model in the table. */
export const macModelIds: readonly string[] = [...modelsById.keys()];

/** What is known about a model, or undefined: an identifier that is not in the table is unknown. */
export const macModel = (id: string): MacModel | undefined => modelsById.get(id);

/** Whether a model is known to have Thunderbolt 4, so that it can never have RDMA; not for an unknown model. */
export const neverHasRdma = (id: string | undefined): boolean =>
  id !== undefined && modelsById.get(id)?.thunderbolt === 4;

/** The day on which the table was last compared with its sources. */
export const macModelsDate = '2026-11-21';

/** Why a receptacle of `avoid` is better left free, as a sentence. */
export const avoidReason = (name: string, receptacle: number): string =>
  `On a ${name} receptacle ${receptacle} is the one next to Ethernet; the README of exo says not to use it for RDMA.`;
