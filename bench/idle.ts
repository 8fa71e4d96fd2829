import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { packedFolder } from '#test/packed.ts'
import { makeFolder, startBelfry } from './belfry.ts'
import { judge, note, write } from './report.ts'

/** In seconds: garbage of the start is collected when the server has been idle for a while, see idle-memory.ts. */
const settling = 45

/** The memory of a server that has just started and does nothing: that of the package, which is one bundle, and that of a checkout. */
export async function measureIdleMemory() {
  using folder = makeFolder()
  const program = join(await packedFolder(folder.path), 'node_modules', 'belfry', 'bin', 'belfry')
  write('\nMemory of the Node process, MB\n\n| Belfry | after the start | idle | target |\n|---|---:|---:|---:|')
  const installed = await measure('package', program)
  write(`${installed.row} ${judge(installed.idle, { most: 120 })} |`)
  write(`${(await measure('checkout')).row} |`)
  note('idle memory of the Node process: MB', installed.idle)
}

async function measure(name: string, program?: string) {
  using folder = makeFolder()
  await using belfry = await startBelfry(folder.path, {}, [], program)
  const before = residentMemory(belfry.pid)
  await sleep(settling * 1000)
  const idle = residentMemory(belfry.pid)
  return { idle, row: `| ${name} | ${before.toFixed(0)} | ${idle.toFixed(0)} |` }
}

const residentMemory = (pid: number) =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
