import { tensorAdvice, tensorProblems } from '../../../desired/tensor-limits.ts';
import type { PlacementFinding } from '../../../drivers/contract/driver.ts';
import type { DesiredPlacement, DriverName } from '../../../model/desired.ts';
import type { ModelShape } from '../../../model/model-shape.ts';

/** mlx knows more of its models, and judges them by itself; llama.cpp divides whole layers. */
const judgesItself: readonly DriverName[] = ['mlx', 'llamacpp-rpc'];

/** Whether the model of a placement can be split by tensors over its nodes. */
export function tensorFindings(
  { sharding, nodes }: DesiredPlacement,
  driver: DriverName,
  shape: ModelShape | undefined,
): readonly PlacementFinding[] {
  if (sharding !== 'tensor' || shape === undefined || judgesItself.includes(driver)) return [];
  const problems = tensorProblems(shape, nodes.length);
  if (problems.length === 0) return [];
  return [
    { code: 'placement/not-divisible', severity: 'error', detail: problems.join(' '), hint: tensorAdvice(shape) },
  ];
}
