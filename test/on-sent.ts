import type { RemoteListener } from '../src/remote/remote.ts';

/** Calls a listener with each command just before the command is sent. */
export const onSent =
  (hear: (command: string, script: string | undefined, node: string) => void): RemoteListener =>
  (event) => {
    if (event.kind === 'sent') hear(event.command, event.script, event.node);
  };
