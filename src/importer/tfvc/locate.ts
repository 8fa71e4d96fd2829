import { headerOf } from '#importer/probe-http.ts'
import { type Choice, type Finding, ImportFailure, type Network, type Origin } from '#importer/source.ts'
import { objectOf, textOf, valuesOf } from './changesets.ts'
import { openClient } from './client.ts'
import { folded } from './paths.ts'
import { Moved, Refused, readJson } from './responses.ts'

/** A project collection, and its projects that use TFVC. */
interface Collection {
  collection: string
  projects: string[]
  /** The project in the address. */
  named: string | undefined
}

/** A failure if no server answered. */
type Located = Collection | 'nothing' | 'needs_auth' | ImportFailure

interface Effort {
  attempts: number
  milliseconds: number
}
/** A probe runs next to those of other kinds and must be short. A resumed import waits for its server. */
const probing: Effort = { attempts: 1, milliseconds: 8000 }
const resuming: Effort = { attempts: 5, milliseconds: 600_000 }

export async function probe(origin: Origin, network: Network): Promise<Finding> {
  const located = await locate(origin, network, probing)
  return located instanceof ImportFailure ? 'nothing' : find(origin, located)
}

function find(origin: Origin, located: Exclude<Located, ImportFailure>): Finding {
  if (typeof located === 'string') return located
  const { collection, projects, named } = located
  const wanted = origin.tfvc_project || named || (projects.length === 1 ? projects[0] : undefined)
  const project = projects.find((name) => wanted !== undefined && folded(name) === folded(wanted))
  if (project !== undefined) return { found: { url: collection, tfvc_project: project } }
  const choices = projects.map((name): Choice => ({ vcs: 'tfvc', tfvc_project: name, human_name: `${name} (tfs)` }))
  return choices.length > 0 ? { found_multiple: choices } : 'nothing'
}

/** The collection and project to read. */
export async function locateProject(origin: Origin, network: Network): Promise<{ collection: string; project: string }> {
  const located = await locate(origin, network, resuming)
  if (located instanceof ImportFailure) throw located
  const finding = find(origin, located)
  if (finding === 'needs_auth') throw new ImportFailure('The server does not accept the user name and password.', 'auth')
  if (typeof finding === 'object' && 'found' in finding) {
    const { url = origin.url, tfvc_project = '' } = finding.found
    return { collection: url, project: tfvc_project }
  }
  const which = origin.tfvc_project ? `no project ${origin.tfvc_project}` : 'no one project'
  throw new ImportFailure(`There is ${which} at this address. Choose one of its projects.`)
}

/** The address may be a collection or a project in it. Both are probed; a project goes first. */
async function locate(origin: Origin, network: Network, effort: Effort): Promise<Located> {
  const url = URL.parse(origin.url)
  if (!url || !/^https?:$/.test(url.protocol)) return 'nothing'
  const parts = url.pathname.split('/').filter((part) => part !== '')
  // Web pages and API paths begin with an underscore.
  const end = parts.findIndex((part) => part.startsWith('_'))
  const path = end < 0 ? parts : parts.slice(0, end)
  const addressOf = (names: string[]) => [url.origin, ...names].join('/')
  const addresses = path.length > 0 ? [path, path.slice(0, -1)] : [path]
  const found = await Promise.all(addresses.map((names) => listProjects(addressOf(names), origin, network, effort)))
  const [whole = 'nothing', above = 'nothing'] = found
  const last = decoded(path.at(-1) ?? '')
  const named = isCollection(above) && above.projects.find((name) => folded(name) === folded(last))
  if (named) return { ...above, named }
  return isCollection(whole) ? whole : (found.find(asksForPassword) ?? whole)
}

function asksForPassword(located: Located) {
  return located === 'needs_auth' || (located instanceof ImportFailure && located.kind === 'auth')
}

function isCollection(located: Located): located is Collection {
  return typeof located === 'object' && 'projects' in located
}

function decoded(part: string) {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

async function listProjects(collection: string, origin: Origin, network: Network, effort: Effort): Promise<Located> {
  const signal = AbortSignal.any([network.signal, AbortSignal.timeout(effort.milliseconds)])
  const client = openClient(collection, origin, { egress: network.egress, signal }, effort.attempts)
  const query = { scopePath: '$/', recursionLevel: 'OneLevel' }
  try {
    const paths = await client.ask('_apis/tfvc/items', query, 'application/json', async (answer) => {
      if (!/\bjson\b/.test(headerOf(answer, 'content-type'))) return undefined
      return valuesOf(await readJson(answer, 'items')).map((raw) => textOf(objectOf(raw).path))
    })
    if (!paths?.every((path) => path.startsWith('$/'))) return 'nothing'
    const projects = paths.map((path) => path.slice(2)).filter((name) => name !== '' && !name.includes('/'))
    return { collection, projects: projects.sort(), named: undefined }
  } catch (error) {
    network.signal.throwIfAborted()
    if (error instanceof Moved && isSame(error.to, collection)) {
      return listProjects(collection.replace(new URL(collection).origin, error.to.origin), origin, network, effort)
    }
    if (error instanceof Refused && error.kind === 'auth') return effort === probing ? 'needs_auth' : error
    if (error instanceof ImportFailure && /may not connect/.test(error.message)) throw error
    return error instanceof ImportFailure && !(error instanceof Refused) ? error : 'nothing'
  }
}

/** Whether a redirect leads to the same host over https. The password is sent nowhere else. */
function isSame(to: URL, collection: string) {
  const from = new URL(collection)
  return from.protocol === 'http:' && to.protocol === 'https:' && to.hostname === from.hostname
}
