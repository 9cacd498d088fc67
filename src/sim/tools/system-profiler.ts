import { type Cable, cableAt, hangingAt, isSameEnd } from '../model/cables.ts';
import { linkSpeed, type MacState, peerAt, type ReceptacleState, type Seen } from '../model/fleet.ts';
import { isDict, type PlistDict, type PlistValue } from '../model/plist.ts';
import { isRdmaLive } from '../model/rdma.ts';
import { seededText } from '../model/seed.ts';
import { from, type Row, row, type Source, type Tool, type ToolView, unconfirmedUsage } from './tool.ts';

/** The buses in `SPThunderboltDataType`, highest number first, each with the device in its only receptacle. */
export const thunderboltBuses = (view: ToolView): readonly PlistDict[] =>
  [...view.mac.receptacles].sort((one, other) => other.bus - one.bus).map((receptacle) => bus(view, receptacle));

function bus({ fleet, mac }: ToolView, receptacle: ReceptacleState): PlistDict {
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

/** The devices on a bus: the far Mac, preceded by a dock if there is one at this end of the cable. */
function itemsAt(peer: Seen | undefined, dock: Cable['dock']): readonly PlistDict[] {
  const macs = peer === undefined ? [] : [peerItem(peer)];
  return dock === undefined ? macs : [dockItem(dock.isBlind ? [] : macs)];
}

/** A Thunderbolt 5 dock as in a published fixture. Devices behind the dock are one level deeper. */
const dockItem = (behind: readonly PlistDict[]): PlistDict => ({
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

/** The Mac at the far end. Its own state determines its services: with RDMA enabled, it has a second service. */
function peerItem({ mac, receptacle }: Seen): PlistDict {
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
    // The service's name, garbled by the tool itself: six carons and AD, as captured.
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

/** The only object in `SPHardwareDataType`, with serial number, UUID and UDID as on a real Mac. */
function hardwareOverview(mac: MacState): PlistDict {
  const words = [mac.hardwareUuid] as const;
  const modelNumber = `Z1${seededText([...words, 'model'], 'ABCDEFGH', 2)}${seededText([...words, 'order'], '0123456789', 6)}LL/A`;
  const ecid = seededText([...words, 'ecid'], '0123456789ABCDEF', 14);
  return {
    _name: 'hardware_overview',
    activation_lock_status: 'activation_lock_disabled',
    boot_rom_version: '13822.121.5',
    chip_type: mac.model.chip,
    machine_model: mac.model.id,
    machine_name: mac.model.family,
    model_number: modelNumber,
    number_processors: `proc ${mac.model.processorText}`,
    os_loader_version: '13822.121.5',
    physical_memory: `${Math.floor(mac.memoryBytes / 2 ** 30)} GB`,
    platform_UUID: mac.hardwareUuid,
    provisioning_UDID: `00006032-00${ecid}`,
    serial_number: mac.serial,
  };
}

/** JSON in the layout of `system_profiler -json`: sorted keys, ` : ` between key and value, two blanks per level. */
export function appleJson(value: PlistValue, indent = ''): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object') return String(value);
  const deeper = `${indent}  `;
  const parts = isDict(value)
    ? Object.keys(value)
        .sort()
        .map((key) => `${deeper}${quoted(key)} : ${appleJson(value[key] ?? '', deeper)}`)
    : value.map((one) => deeper + appleJson(one, deeper));
  const [open, close] = isDict(value) ? ['{', '}'] : ['[', ']'];
  return `${open}\n${parts.join(',\n')}\n${indent}${close}`;
}

/** Escapes all non-ASCII characters, as in the published captures. */
const quoted = (text: string): string =>
  JSON.stringify(text).replaceAll(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const hardware = from.capture('sp-hardware-json.m2-air.json', 'OpenTelemetry Java contrib test data');
const thunderbolt = from.capture('sp-thunderbolt-json.m3ultra.pairA-studio.json', 'github.com/jundot/omlx');

/** The data type may come before or after `-json`; the order has no meaning. */
function bothOrders(dataType: string, source: Source, items: readonly PlistDict[]): readonly Row[] {
  const stdout = `${appleJson({ [dataType]: items })}\n`;
  return [row([dataType, '-json'], source, stdout), row(['-json', dataType], source, stdout)];
}

/** `system_profiler`: the data types for hardware and Thunderbolt, as JSON. */
export const systemProfiler: Tool = {
  path: '/usr/sbin/system_profiler',
  rows: (view) => [
    ...bothOrders('SPHardwareDataType', hardware, [hardwareOverview(view.mac)]),
    ...bothOrders('SPThunderboltDataType', thunderbolt, thunderboltBuses(view)),
  ],
  usage: unconfirmedUsage(
    'system_profiler',
    1,
    'Usage: system_profiler [-listDataTypes]',
    '       system_profiler [-xml | -json] [-timeout n] [-detailLevel n] [dataType1 ... dataTypeN]',
  ),
};
