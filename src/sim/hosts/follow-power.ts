import type { SimulatedNode } from './simulated-node.ts';

/**
 * Carries out what the model says of the current of each Mac: one that panics goes down and starts again by itself,
 * one without current is off until it is back, one that is to wait at FileVault while its services run is started anew,
 * since only a start leads there. So is another Mac in the place of the one that runs. The returned function does so once; to be called outside of a turn, since the start
 * of a Mac takes one. Resolves when every Mac is as it will stay.
 */
export function createPowerFollower(nodes: readonly SimulatedNode[]): () => Promise<void> {
  const withoutCurrent = new Set<string>();
  const follow = async (node: SimulatedNode): Promise<void> => {
    const { ailments, comesBackAfterPowerLoss, connection } = node.view();
    const { life, name } = node;
    if (ailments.lacksCurrent) {
      withoutCurrent.add(name);
      await life.cutPower();
    } else if (withoutCurrent.delete(name)) {
      if (comesBackAfterPowerLoss) await life.powerOn();
    } else if (ailments.panic !== undefined && life.power() === 'up') {
      await life.panic();
    } else if (
      life.power() === 'up' &&
      (node.isExchanged() || (connection.filevault === 'preboot' && node.isAwake()))
    ) {
      await life.cutPower();
      await life.powerOn();
    }
  };
  return async () => {
    await Promise.all(nodes.map(follow));
  };
}
