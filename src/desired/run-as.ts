import type { DesiredFleet, DesiredNode } from '../model/desired.ts';

/** The account that runs the ranks of a node; undefined is the ssh user. */
export const ranksUser = ({ system }: DesiredFleet, { user }: DesiredNode): string | undefined =>
  system.accounts.ranks ?? user;

/** The account that runs the gateways of a node; undefined is the ssh user. */
export const gatewayUser = ({ system }: DesiredFleet, { user }: DesiredNode): string | undefined =>
  system.accounts.gateway ?? user;

/** The accounts that the file names, each once. */
export const namedAccounts = ({ system }: DesiredFleet): readonly string[] =>
  [system.accounts.ranks, system.accounts.gateway].flatMap((one) => one ?? []);
