import type { AppleJson } from '../../model/apple-json.ts';
import type { MacState } from '../../model/mac.ts';
import { seededText } from '../../seed.ts';

const gib = 2 ** 30;

/** The one object of `SPHardwareDataType`: serial, UUID and UDID are in it, as on a real Mac. */
export function hardwareOverview(mac: MacState): AppleJson {
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
    physical_memory: `${Math.floor(mac.memoryBytes / gib)} GB`,
    platform_UUID: mac.hardwareUuid,
    provisioning_UDID: `00006032-00${ecid}`,
    serial_number: mac.serial,
  };
}
