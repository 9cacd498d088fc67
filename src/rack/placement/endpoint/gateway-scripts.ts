import { ownHeader } from '../../../model/gateway.ts';
import type { ScriptArgs } from '../../../model/node-script.ts';
import { gatewayEndSeconds, serviceValues } from '../../../node/launchd-service.ts';
import { refusalValues } from '../../../node/owner-word.ts';
import {
  closedFile,
  closedFolder,
  countsFolder,
  gatewayConfig,
  gatewayFolder,
  gatewayKeysFile,
  gatewayLabel,
  gatewayLog,
  gatewayPlist,
  gatewaySecret,
  gatewayStatusStart,
  gatewayStatusUrl,
  gatewaysFolder,
  replicasFile,
} from '../../../node/paths/own-paths.ts';
import { fileSeal } from '../../../node/put-file.ts';
import { sh } from './scripts.generated.ts';

const ofService = (port: number) => serviceValues(gatewayLabel(port), gatewayEndSeconds);

export function clearGateway({ port, closed, keyed }: ScriptArgs['remove-gateway']): string {
  const put = [
    gatewayPlist(port),
    gatewayConfig(port),
    ...keyed.flatMap((placement) => [gatewayKeysFile(port, placement), replicasFile(port, placement)]),
    ...closed.map((placement) => closedFile(port, placement)),
  ];
  const traces = [gatewayPlist(port), ...put.map(fileSeal), gatewayFolder(port)];
  return sh.removeGateway({ ...ofService(port), gateways: gatewaysFolder }, traces);
}

export const loadGateway = ({ port, reload, isTaken, left, user }: ScriptArgs['load-gateway']): string =>
  sh.loadGateway(
    {
      ...ofService(port),
      ...refusalValues,
      plist: gatewayPlist(port),
      user,
      reload,
      closed: closedFolder(port),
      counts: countsFolder(port),
      log: gatewayLog(port),
      own: gatewaySecret(port),
      own_header: ownHeader,
      port,
      status_url: isTaken ? '' : gatewayStatusUrl(port),
      status_start: gatewayStatusStart,
    },
    left
      .flatMap((placement) => [gatewayKeysFile(port, placement), replicasFile(port, placement)])
      .flatMap((file) => [file, fileSeal(file)]),
  );

export const drainGateway = ({ port, placement, waitMs }: ScriptArgs['drain-endpoint']): string =>
  sh.drainEndpoint({
    label: gatewayLabel(port),
    own: gatewaySecret(port),
    in_flight_url: `http://127.0.0.1:${port}/gateway/in-flight/${placement}`,
    looks: Math.ceil(waitMs / 250),
  });

export function openGateway({ port, placement }: ScriptArgs['open-endpoint']): string {
  const file = closedFile(port, placement);
  return sh.openEndpoint({}, [file, fileSeal(file)]);
}
