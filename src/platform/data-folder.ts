import {
  accessSync,
  chmodSync,
  constants,
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
 * Makes the data folder. Everyone may pass through it (the database's account must), nobody may list it;
 * what lies inside guards itself. One that is there already keeps its mode: it may hold other things, too.
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

/**
 * Claims the data folder for this process, or says who has it. The claim is a file with our process id and
 * its start time, so that one left behind by a killed process is known for what it is, even when its id is in use again.
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

/** Removes drafts of the claim and of the key that killed processes left; returns their names. */
export function sweepDrafts(folder: string): string[] {
  const drafts = readdirSync(folder).filter((name) => {
    const [, pid] = /^(?:belfry\.pid|secrets\.key)\.(\d+)$/.exec(name) ?? []
    return pid !== undefined && statSync(join(folder, name)).mtimeMs < processStart
  })
  for (const name of drafts) rmSync(join(folder, name), { force: true })
  return drafts
}

/** A link appears whole or not at all: nobody ever reads a half-written claim. */
function linked(draft: string, path: string) {
  try {
    linkSync(draft, path)
    return true
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    return false
  }
}

/** Two that find the same stale claim must not each remove the other's new one: only who holds the turn may remove. */
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

function checkUnclaimed(folder: string, path: string) {
  const pid = livingHolder(path)
  if (!pid) return
  throw new StartError(`Belfry is already running on ${folder} (process ${pid}). Stop it, or set BELFRY_DATA to another folder.`)
}

/** The process that a claim names, if it is still that process. */
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
