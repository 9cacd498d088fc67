import { mapKnown } from '../../seen-fact.ts';
import { settingResource } from '../../setting.ts';
import { type ScreenSharingWords, screenSharingWords, wantedScreenSharing } from './text.ts';

/** Whether Screen Sharing is on, now and after every start. @see launchctl(1): enable, disable */
export const screenSharing = settingResource<ScreenSharingWords>({
  kind: 'screen-sharing',
  wanted: wantedScreenSharing,
  observed: (facts) => mapKnown(facts['screen-sharing'], screenSharingWords),
  words: (value) => value,
  key: 'system.screenSharing',
  call: (wanted) => ({ name: 'set-screen-sharing', args: { on: wanted === 'on' } }),
});
