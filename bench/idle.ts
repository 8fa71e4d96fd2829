import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeFolder, startBelfry } from './belfry.ts'
import { conclude, judge, note, write } from './report.ts'

/** In seconds: garbage of the start is collected when the server has been idle for a while, see idle-memory.ts. */
const settling = 45

/** The memory of a server that has just started and does nothing. */
export async function measureIdleMemory() {
  using folder = makeFolder()
  await using belfry = await startBelfry(folder.path)
  const before = residentMemory(belfry.pid)
  await sleep(settling * 1000)
  const after = residentMemory(belfry.pid)
  write('\nMemory of the Node process, MB\n\n| after the start | idle | target |\n|---:|---:|---:|')
  write(`| ${before.toFixed(0)} | ${after.toFixed(0)} | ${judge(after, { most: 120 })} |`)
  note('idle memory of the Node process: MB', after)
}

const residentMemory = (pid: number) =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024

if (import.meta.main) {
  await measureIdleMemory()
  conclude()
}
