import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../run/files.ts'
import type { Mutant } from './choose.ts'

/** Below it, nothing of yours. */
export const folder = join(root, 'test-output/mutants')

const left = new Set(['.git', 'coverage', 'data', 'dist', 'node_modules', 'test-output'])

/** Copies the checkout, so that faults are never in your files. */
export function copyCheckout(name: string) {
  const copy = join(folder, name)
  rmSync(copy, { recursive: true, force: true })
  mkdirSync(copy, { recursive: true })
  for (const entry of readdirSync(root)) if (!left.has(entry)) cpSync(join(root, entry), join(copy, entry), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

/** Puts the fault into a copy until the end of the block. */
export function putFault(copy: string, { file, source }: Mutant): Disposable {
  writeFileSync(join(copy, file), source)
  return { [Symbol.dispose]: () => cpSync(join(root, file), join(copy, file)) }
}
