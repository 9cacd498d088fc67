import { fileURLToPath } from 'node:url';
import { gatewayFile } from '../../desired/resolve.ts';
import type { DesiredFleet } from '../../model/desired.ts';

/** This meshwright's bundled gateway program, from the build. */
export const gatewayProgram = fileURLToPath(new URL('../../gateway/gateway.mjs', import.meta.url));

/** The fleet with this meshwright's gateway program if it has a gateway. */
export function withGatewayProgram(fleet: DesiredFleet): DesiredFleet {
  const { gateway } = fleet;
  return gateway === undefined
    ? fleet
    : { ...fleet, gateway: { ...gateway, extras: [{ name: gatewayFile, source: gatewayProgram }] } };
}
