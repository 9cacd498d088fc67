import type { DesiredFleet, DesiredNode } from '../model/desired.ts';

/** Whom the ranks of a node run as; undefined is whoever logs in to start them. */
export const ranksUser = ({ system }: DesiredFleet, { user }: DesiredNode): string | undefined =>
  system.accounts?.ranks ?? user;

/** The same for its gateways. */
export const gatewayUser = ({ system }: DesiredFleet, { user }: DesiredNode): string | undefined =>
  system.accounts?.gateway ?? user;

/** The accounts that the file names, each once. */
export const namedAccounts = ({ system }: DesiredFleet): readonly string[] =>
  [system.accounts?.ranks, system.accounts?.gateway].flatMap((one) => one ?? []);
