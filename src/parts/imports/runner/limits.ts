import { statfs } from 'node:fs/promises'
import { sizeOfFolder } from './folders.ts'
import { type Member, membersOf, memoryOf } from './process-group.ts'

export interface Limits {
  /** In bytes. */
  disk: number
  memory: number
  /** The free disk space that must remain, in bytes. */
  spare: number
  /** In milliseconds, over all steps. */
  total: number
  /** In milliseconds without progress. */
  idle: number
}

/** In milliseconds. */
const interval = 1000
/** The disk is checked every third time, because reading all files takes longer. */
const checksPerDiskScan = 3

export interface Usage {
  group: number
  folder: string
  /** In milliseconds. */
  worked(): number
  /** Milliseconds since the last progress. */
  idleTime(): number
  /** Called when the processes compute, which counts as progress. */
  markActive(): void
}

/** Ticks of processor time per interval. A process that waits for its source uses less. */
const busyTicks = 500

/** Checked at the end of a step, because a step can be shorter than the interval. */
export async function finalLimitError(limits: Limits, { folder, worked }: Usage): Promise<string | undefined> {
  if (worked() > limits.total) return timeError(limits)
  return (await sizeOfFolder(folder)) > limits.disk ? diskError(limits) : undefined
}

/** Calls `over` once, with a message for the user. */
export function watchLimits(limits: Limits, usage: Usage, over: (message: string) => void): Disposable {
  let checks = 0
  let checking = false
  let before = 0
  const timer = setInterval(async () => {
    if (checking) return
    checking = true
    const members = await membersOf(usage.group)
    const computed = members.reduce((sum, member) => sum + member.computed, 0)
    if (computed - before > busyTicks) usage.markActive()
    // When a process ends, its processor time is no longer counted.
    if (computed - before > busyTicks || computed < before) before = computed
    const message = await limitError(limits, usage, members, checks++ % checksPerDiskScan === 0).catch(() => undefined)
    checking = false
    if (!message) return
    clearInterval(timer)
    over(message)
  }, interval).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

const ask = 'Ask an administrator of this server to raise the limit'

async function limitError(limits: Limits, { folder, worked, idleTime }: Usage, members: Member[], withDisk: boolean) {
  if (worked() > limits.total) return timeError(limits)
  if (idleTime() > limits.idle) {
    return `The source sent nothing for ${Math.round(limits.idle / 60_000)} minutes. Check that it is reachable, then restart the import.`
  }
  if ((await memoryOf(members)) > limits.memory) return memoryError(limits)
  if (!withDisk) return undefined
  if ((await sizeOfFolder(folder)) > limits.disk) return diskError(limits)
  return spaceError(limits, folder, 0)
}

/** Whether the disk has room for so many bytes more. */
export async function spaceError({ spare }: Limits, folder: string, bytes: number): Promise<string | undefined> {
  const { bavail, bsize } = await statfs(folder)
  if (bavail * bsize >= spare + bytes) return undefined
  return 'The disk of this server is almost full. Ask an administrator to free space, then restart the import.'
}

export function memoryError({ memory }: Limits) {
  return `The import took more than ${inMegabytes(memory)} of memory. ${ask} (BELFRY_IMPORT_MEMORY), then restart it.`
}

function diskError({ disk }: Limits) {
  return `The import took more than ${inMegabytes(disk)} of disk space. ${ask} (BELFRY_IMPORT_DISK), then restart it.`
}

function timeError({ total }: Limits) {
  return `The import took longer than ${inHours(total)}. ${ask} (BELFRY_IMPORT_HOURS), then restart it.`
}

const inMegabytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MB`

function inHours(milliseconds: number) {
  const hours = milliseconds / 3_600_000
  return `${hours} ${hours === 1 ? 'hour' : 'hours'}`
}
