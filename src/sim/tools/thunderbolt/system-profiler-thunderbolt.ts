import type { AppleJson } from '../../model/apple-json.ts';
import { cableAt, type Dock, hangingAt, isSameEnd } from '../../model/cables/cables.ts';
import { isRdmaLive } from '../../model/cables/rdma.ts';
import { linkSpeed, peerAt, type Seen } from '../../model/fleet.ts';
import type { ReceptacleState } from '../../model/mac.ts';
import type { View } from '../tool.ts';

/** The buses of `SPThunderboltDataType`, highest first; each with what is plugged into its one receptacle. */
export const thunderboltBuses = (view: View): readonly AppleJson[] =>
  [...view.mac.receptacles].sort((one, other) => other.bus - one.bus).map((receptacle) => bus(view, receptacle));

function bus({ fleet, mac }: View, receptacle: ReceptacleState): AppleJson {
  const end = { node: mac.name, receptacle: receptacle.number };
  const cable = cableAt(fleet.cables, end);
  const dock = (cable ?? hangingAt(fleet.hanging, end))?.dock;
  const items = itemsAt(peerAt(fleet, end), dock !== undefined && isSameEnd(dock.at, end) ? dock : undefined);
  return {
    ...(items.length === 0 ? {} : { _items: items }),
    _name: `thunderboltusb4_bus_${receptacle.bus}`,
    device_name_key: mac.model.family,
    domain_uuid_key: receptacle.domainUuid,
    receptacle_1_tag: {
      receptacle_id_key: String(receptacle.number),
      ...(items.length === 0
        ? {
            current_speed_key: mac.model.thunderbolt === 5 ? 'Up to 120 Gb/s' : 'Up to 40 Gb/s',
            link_status_key: '0x100',
            receptacle_status_key: 'receptacle_no_devices_connected',
          }
        : {
            current_speed_key: `${cable === undefined ? 80 : linkSpeed(fleet, cable)} Gb/s`,
            link_status_key: '0x2',
            micro_version_key: '0.0.0',
            receptacle_status_key: 'receptacle_connected',
          }),
    },
    route_string_key: '0',
    switch_uid_key: `0x${receptacle.switchUid}`,
    vendor_name_key: 'Apple Inc.',
  };
}

/** What hangs on a bus: the far Mac, and before it the dock, when that stands at this end of the cable. */
function itemsAt(peer: Seen | undefined, dock: Dock | undefined): readonly AppleJson[] {
  const macs = peer === undefined ? [] : [peerItem(peer)];
  return dock === undefined ? macs : [dockItem(dock.isBlind ? [] : macs)];
}

/** A Thunderbolt 5 dock as the fixture of the issue tracker has one; what stands behind it is one level deeper. */
const dockItem = (behind: readonly AppleJson[]): AppleJson => ({
  ...(behind.length === 0 ? {} : { _items: behind }),
  _name: 'TS5 Plus',
  device_id_key: '0x5',
  device_name_key: 'TS5 Plus',
  mode_key: 'usb_four_v2',
  route_string_key: '1',
  switch_uid_key: '0x3D00000000000001',
  vendor_id_key: '0x3D',
  vendor_name_key: 'CalDigit, Inc.',
});

/** The Mac at the far end. What it offers is its own state: with RDMA enabled it names a second service. */
function peerItem({ mac, receptacle }: Seen): AppleJson {
  const ip = {
    _name: 'service_ip',
    protocol_id_key: 1,
    protocol_revision_key: 1,
    protocol_version_key: 1,
    service_uuid_key: receptacle.ipServiceUuid,
  };
  const rdma = {
    _name: 'unknown_xd_service',
    protocol_id_key: 64_087,
    protocol_revision_key: 0,
    protocol_version_key: 1,
    // The name of the service, spoilt by the tool itself: six carons and AD, as captured.
    service_key_key: `${'\u02c7'.repeat(6)}AD`,
    service_uuid_key: receptacle.rdmaServiceUuid,
  };
  return {
    _name: mac.model.family,
    device_id_key: '0xA',
    device_name_key: mac.model.id,
    domain_uuid_key: receptacle.domainUuid,
    services_title: isRdmaLive(mac) ? [ip, rdma] : [ip],
    vendor_id_key: '0x0A27',
    vendor_name_key: 'Apple Inc.',
  };
}
