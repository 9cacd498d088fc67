import { pathWord, place, tool } from '../../../node/paths/node-paths.ts';

/**
 * Keeps macOS from installing its own updates unasked. defaults says nothing of use, so the key is read back.
 *
 * @see defaults(1); the key is what System Settings > General > Software Update writes
 */
export function setUpdates(): string {
  const key = `${pathWord(place.softwareUpdate)} AutomaticallyInstallMacOSUpdates`;
  return `isoff() {
  [ "$(${pathWord(tool.defaults)} read ${key} 2>/dev/null)" = 0 ]
}
isoff && unchanged
must defaults ${pathWord(tool.defaults)} write ${key} -bool false
isoff || failed defaults 'defaults took the setting and shows another one'
changed`;
}
