import type { NodeDoor } from '../node-life.ts';

/** The door of a node that is shut while Remote Login is off, whatever else happens to its Mac. */
export interface RemoteLoginDoor extends NodeDoor {
  /** Opens or shuts it as the model now says; a Mac that is not there opens it when it comes up. */
  readonly follow: (isThere: boolean) => Promise<void>;
}

/** Puts the switch of Remote Login in front of a door. Connections that are open stay so. */
export function remoteLoginDoor(door: NodeDoor, isOff: () => boolean): RemoteLoginDoor {
  const listen = async (): Promise<void> => {
    if (!isOff()) await door.listen();
  };
  return {
    listen,
    refuse: door.refuse,
    cut: door.cut,
    follow: async (isThere) => {
      if (isOff()) door.refuse();
      else if (isThere) await listen();
    },
  };
}
