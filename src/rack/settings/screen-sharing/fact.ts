import { known } from '../../../model/known.ts';
import { isLoaded, overrideOf } from '../../../node/answers/launchd-answers.ts';
import { garbled } from '../../../node/answers/read-answer.ts';
import { settingAnswer } from '../../../node/probes/node-setting.ts';
import { screenSharingLabel } from '../../../node/probes/node-settings.ts';
import { nodeSettings } from '../../../node/probes/system.ts';
import type { Fact } from '../../fact.ts';

/**
 * Whether launchd has Screen Sharing, now and at the next start. Without an override the next start is taken to leave it off:
 * so says the plist of older macOS, and on 26 nobody has confirmed it (docs/unverified.md).
 */
export const screenSharing: Fact<'screen-sharing'> = {
  name: 'screen-sharing',
  from: [nodeSettings],
  parse: ([answer]) => {
    const print = settingAnswer(answer, 'screen-sharing');
    if (print.kind === 'unknown') return print;
    const disabled = settingAnswer(answer, 'override');
    if (disabled.kind === 'unknown') return disabled;
    const loaded = isLoaded(print.value.code, print.value.lines);
    const override = overrideOf(screenSharingLabel, disabled.value.code, disabled.value.lines);
    return loaded === undefined || override === undefined
      ? garbled(answer, 'said something of Screen Sharing that cannot be read')
      : known({ isLoaded: loaded, isLoadedAtBoot: override === 'enabled' });
  },
};
