import type { DesiredFleet } from '../../model/desired.ts';
import type { FactsScreenSharing } from '../../model/documents.generated.ts';
import { andThen, type Known, known, mapKnown, seenValue } from '../../model/known.ts';
import { meshwright } from '../../model/text/command.ts';
import { prose } from '../../model/text/prose.ts';
import { isLoaded, overrideOf } from '../../node/answers/launchd.ts';
import { garbled } from '../../node/answers/read-answer.ts';
import { settingAnswer } from '../../node/answers/setting-answer.ts';
import { serviceValues } from '../../node/launchd-service.ts';
import { pathWord, place, tool } from '../../node/paths/node-paths.ts';
import { nodeSettings, screenSharingLabel } from '../../node/probes/node-settings.ts';
import { defineNodeRule } from '../define-rule.ts';
import { defineFact, read } from '../fact.ts';
import { defineSetting, settingProperty } from './define-setting.ts';
import { sh } from './scripts.generated.ts';

declare module '../../model/node-script.ts' {
  interface ScriptArgs {
    readonly 'set-screen-sharing': { readonly on: boolean };
  }
}
declare module '../resource-kind.ts' {
  interface ResourceKinds {
    readonly 'screen-sharing': true;
  }
}

/** The current state in words, and whether the next boot changes it. */
type ScreenSharingWords = 'on' | 'off' | 'on until the next start' | 'off until the next start';

function wordsOf({ isLoaded: isOn, isLoadedAtBoot }: FactsScreenSharing): ScreenSharingWords {
  const now = isOn ? 'on' : 'off';
  return isOn === isLoadedAtBoot ? now : `${now} until the next start`;
}

/**
 * The state of Screen Sharing in launchd, now and after the next boot. Without an override, it is assumed to remain off
 * at the next boot, according to the plist of older macOS. This is not confirmed for macOS 26 (docs/unverified.md).
 */
const fact = defineFact({
  name: 'screen-sharing',
  from: [nodeSettings],
  parse: ([answer]): Known<FactsScreenSharing> =>
    andThen(settingAnswer(answer, 'screen-sharing'), (print) => {
      const disabled = settingAnswer(answer, 'override');
      if (disabled.kind === 'unknown') return disabled;
      const loaded = isLoaded(print.code, print.lines);
      const override = overrideOf(screenSharingLabel, disabled.value.code, disabled.value.lines);
      return loaded === undefined || override === undefined
        ? garbled(answer, 'printed an unreadable state of Screen Sharing')
        : known({ isLoaded: loaded, isLoadedAtBoot: override === 'enabled' });
    }),
  source: 'launchctl print system/com.apple.screensharing',
  text: wordsOf,
});

const wanted = ({ system }: DesiredFleet): ScreenSharingWords | undefined =>
  system.screenSharing && (system.screenSharing === 'enabled' ? 'on' : 'off');

const launchctl = pathWord(tool.launchctl);

/** Prints `on` or `off`, followed by ` until the next start` if the next boot changes that, like {@link wordsOf}. */
const readBefore = `o=$(${launchctl} print system/${screenSharingLabel} 2>&1)
case $? in (0) w=on ;; (113) w=off ;; (*) exit 1 ;; esac
o=$(${launchctl} print-disabled system) || exit
case $o in (*'"${screenSharingLabel}" => enabled'* | *'"${screenSharingLabel}" => false'*) a=on ;; (*) a=off ;; esac
[ "$w" = "$a" ] || w="$w until the next start"
printf '%s\\n' "$w"`;

/** launchd can load only an enabled service, so it is enabled first. */
const restoreBefore = `L=system/${screenSharingLabel}
case $v in (on* | off\\ *) ${launchctl} enable "$L" || return ;; esac
case $v in
(on*) ${launchctl} print "$L" >/dev/null 2>&1 || ${launchctl} bootstrap system ${pathWord(place.screenSharing)} || return ;;
(*) ! ${launchctl} print "$L" >/dev/null 2>&1 || ${launchctl} bootout "$L" || return ;;
esac
case $v in (on\\ * | off) ${launchctl} disable "$L" ;; esac`;

/** The state of Screen Sharing, now and after every boot. @see launchctl(1): enable, disable */
export const screenSharing = {
  ...defineSetting({
    kind: 'screen-sharing',
    fact,
    properties: (fleet, { facts }) =>
      settingProperty({
        desired: wanted(fleet),
        observed: mapKnown(read(facts, fact), wordsOf),
        words: (value) => value,
        reason: 'system.screenSharing',
      }),
    script: {
      name: 'set-screen-sharing',
      text: ({ on }) => sh.setScreenSharing({ ...serviceValues(screenSharingLabel), on, plist: place.screenSharing }),
    },
    args: (fleet) => ({ on: wanted(fleet) === 'on' }),
    before: { read: readBefore, restore: restoreBefore, now: (facts) => mapKnown(read(facts, fact), wordsOf) },
  }),
  ...defineNodeRule(
    {
      'sharing/screen': {
        summary: 'Screen Sharing does not match the file.',
        cause: "Screen Sharing's launchd service, now or at the next start, differs from system.screenSharing.",
        hint: prose`Set it with ${meshwright('apply')}.`,
        role: 'converged',
        facts: [fact],
      },
    },
    ({ facts }, { desired }) => {
      const right = wanted(desired);
      const seen = seenValue(mapKnown(read(facts, fact), wordsOf));
      if (right === undefined || seen === undefined || seen === right) return [];
      const detail = `Screen Sharing is ${seen}, but the file wants it ${desired.system.screenSharing}.`;
      return { code: 'sharing/screen', detail };
    },
  ),
};
