import type { Remote } from '../../remote/remote.ts';
import type { LogIn } from './with-remote.ts';

/** One login that several uses share. */
export interface SharedLogin {
  readonly logIn: LogIn;
  /** Ends the connection, if there is one; whoever made this calls it. */
  readonly end: () => void;
}

/**
 * A login that is made by its first use and ended by its maker, so that a password is sent once for all of them. One
 * that failed stays failed: it is not tried again.
 */
export function sharedLogin(make: LogIn): SharedLogin {
  let making: Promise<Remote> | undefined;
  let made: Remote | undefined;
  let isEnded = false;
  const first: LogIn = async (way, limits) => {
    const remote = await make(way, limits);
    made = remote;
    if (isEnded) remote.close();
    return remote;
  };
  return {
    logIn: async (way, limits) => {
      const isFirst = making === undefined;
      making ??= first(way, limits);
      const remote = await making;
      return {
        rootPrefix: remote.rootPrefix,
        connectMs: isFirst ? remote.connectMs : 0,
        close: () => undefined,
        exec: (command, bounds) => remote.exec(command, bounds),
      };
    },
    end: () => {
      isEnded = true;
      made?.close();
    },
  };
}
