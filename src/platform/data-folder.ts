import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { codeOf } from './database.ts'
import { syncFolderNow } from './durable.ts'
import { StartError } from './errors.ts'
import { identityOf, processStart } from './processes.ts'

/**
 * Creates the data folder. Every account may traverse it, because the database's account must, but none may list it; its contents have
 * modes of their own. An existing folder keeps its mode, because it may contain other files.
 */
export function makeDataFolder(folder: string) {
  try {
    if (mkdirSync(folder, { recursive: true })) {
      chmodSync(folder, 0o711)
      syncFolderNow(dirname(folder))
    }
    accessSync(folder, constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new StartError(
      `BELFRY_DATA is ${JSON.stringify(folder)}: it must be a folder that Belfry can make and write to (${codeOf(error)}).`,
    )
  }
}

const unfinished = 'restore-unfinished'

/** Marks a folder that a backup is being restored into, so that no server starts on a part of it. */
export function markRestore(folder: string): Disposable {
  const path = join(folder, unfinished)
  writeFileSync(path, '')
  return { [Symbol.dispose]: () => rmSync(path) }
}

export function checkRestored(folder: string) {
  if (!existsSync(join(folder, unfinished))) return
  throw new StartError(`A restore into ${folder} did not finish. Empty the folder (and the database), and restore again.`)
}

/**
 * Claims the data folder for this process, or throws with the id of the process that has it. The claim is a file with our process id and
 * start time, so that a claim of a killed process is recognized even when its id is in use again.
 */
export function claimDataFolder(folder: string): Disposable {
  const path = join(folder, 'belfry.pid')
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, identityOf(process.pid) ?? '')
  try {
    if (!linked(draft, path)) takeOver(folder, draft, path)
    return { [Symbol.dispose]: () => rmSync(path, { force: true }) }
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Removes drafts of the claim and of the key that killed processes left. Returns their names. */
export function sweepDrafts(folder: string): string[] {
  const drafts = readdirSync(folder).filter((name) => {
    const [, pid] = /^(?:belfry\.pid|secrets\.key)\.(\d+)$/.exec(name) ?? []
    return pid !== undefined && statSync(join(folder, name)).mtimeMs < processStart
  })
  for (const name of drafts) rmSync(join(folder, name), { force: true })
  return drafts
}

/** A link appears complete or not at all, so no process reads a partial claim. */
function linked(draft: string, path: string) {
  try {
    linkSync(draft, path)
    return true
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    return false
  }
}

/**
 * Two processes that find the same stale claim must not remove each other's new claim: only the process that has the turn file may remove
 * one.
 */
function takeOver(folder: string, draft: string, path: string) {
  checkUnclaimed(folder, path)
  const turn = `${path}.turn`
  const tooLate = () => new StartError(`Another Belfry was starting on ${folder} at the same moment. Start again.`)
  if (!linked(draft, turn)) {
    if (!livingHolder(turn)) rmSync(turn, { force: true })
    throw tooLate()
  }
  try {
    checkUnclaimed(folder, path)
    rmSync(path, { force: true })
    if (!linked(draft, path)) throw tooLate()
  } finally {
    rmSync(turn, { force: true })
  }
}

/** The process that has claimed the data folder, if it still runs. */
export const claimantOf = (folder: string) => livingHolder(join(folder, 'belfry.pid'))

function checkUnclaimed(folder: string, path: string) {
  const pid = livingHolder(path)
  if (!pid) return
  throw new StartError(`Belfry is already running on ${folder} (process ${pid}). Stop it, or set BELFRY_DATA to another folder.`)
}

/** The id of the process in a claim, if that process still runs. */
function livingHolder(path: string) {
  const claim = readClaim(path)
  const pid = parseInt(claim, 10)
  return claim && identityOf(pid) === claim ? pid : undefined
}

function readClaim(path: string) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
