import { statfs } from 'node:fs/promises'
import { sizeOfFolder } from './folders.ts'
import { type Member, membersOf, memoryOf } from './process-group.ts'

export interface Limits {
  /** In bytes. */
  disk: number
  memory: number
  /** What must be left on the disk for everybody else, in bytes. */
  spare: number
  /** In milliseconds, for all of its work. */
  total: number
  /** In milliseconds, without a word. */
  idle: number
}

/** In milliseconds. */
const interval = 1000
/** To look at all files takes longer than the rest. */
const checksPerDiskScan = 3

export interface Usage {
  group: number
  folder: string
  /** How long it has worked by now, in milliseconds. */
  worked(): number
  /** How long nothing was heard of it, in milliseconds. */
  idleTime(): number
  /** Called when it is not silent for nothing: it computes. */
  markActive(): void
}

/** Who waits for a source computes less than this between two words, in hundredths of a second. */
const busyTicks = 500

/** What is too much of it at the end of a step, however quickly that came. */
export async function finalLimitError(limits: Limits, { folder, worked }: Usage): Promise<string | undefined> {
  if (worked() > limits.total) return timeError(limits)
  return (await sizeOfFolder(folder)) > limits.disk ? diskError(limits) : undefined
}

/** Tells once, in words for whoever wanted the import, that it takes more than it may. */
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
    // One that ended takes what it computed along.
    if (computed - before > busyTicks || computed < before) before = computed
    const message = await limitError(limits, usage, members, checks++ % checksPerDiskScan === 0).catch(() => undefined)
    checking = false
    if (!message) return
    clearInterval(timer)
    over(message)
  }, interval).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

const ask = 'Ask whoever runs this server whether it may take more'

async function limitError(limits: Limits, { folder, worked, idleTime }: Usage, members: Member[], withDisk: boolean) {
  if (worked() > limits.total) return timeError(limits)
  if (idleTime() > limits.idle) {
    return `Nothing came from the source for ${Math.round(limits.idle / 60_000)} minutes. See whether it can be reached, then restart the import.`
  }
  if ((await memoryOf(members)) > limits.memory) return memoryError(limits)
  if (!withDisk) return undefined
  if ((await sizeOfFolder(folder)) > limits.disk) return diskError(limits)
  const { bavail, bsize } = await statfs(folder)
  if (bavail * bsize < limits.spare) {
    return 'There is too little space left on the disk of this server. Ask whoever runs it to make room, then restart the import.'
  }
  return undefined
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
