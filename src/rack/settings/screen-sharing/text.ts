import type { DesiredFleet } from '../../../model/desired.ts';
import type { ScreenSharing } from '../../../model/facts/mac-settings.ts';

/** Screen Sharing as one word or few: what it is now, and where the next start changes that. */
export type ScreenSharingWords = 'on' | 'off' | 'on until the next start' | 'off until the next start';

/** What a fact about Screen Sharing is called. */
export function screenSharingWords({ isLoaded, isLoadedAtBoot }: ScreenSharing): ScreenSharingWords {
  const now = isLoaded ? 'on' : 'off';
  return isLoaded === isLoadedAtBoot ? now : `${now} until the next start`;
}

/** What Screen Sharing is to be called; undefined where the file leaves it as it is. */
export function wantedScreenSharing({ system }: DesiredFleet): ScreenSharingWords | undefined {
  const { screenSharing: wanted } = system;
  return wanted === undefined ? undefined : wanted === 'enabled' ? 'on' : 'off';
}
