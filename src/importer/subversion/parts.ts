import { namesIn } from '#importer/layout-patterns.ts'
import { ImportFailure, type LayoutPatterns, type Part } from '#importer/source.ts'
import { isPattern, parsePatterns } from '#importer/staging/arrange/path-pattern.ts'
import type { Claim } from '#importer/staging/arrange/roots.ts'
import { chosenLayout, joinPath, type Layout, plainLayout } from './layout.ts'
import { findProjects, type Project, type Repository, type RepositoryReader } from './projects.ts'

/** A repository to make of a source with several projects. */
export interface PlannedPart extends Part {
  layout: Layout
  /** The folders that belong to it. */
  claim: Claim
}

/** In a layout, the name of a project. */
export const projectName = '{project}'

/** How many folders are searched for projects. */
const maxFolders = 5000

/** The projects of a repository, and a part for what belongs to none of them. Those of an earlier run keep their names. */
export async function findParts(
  reader: RepositoryReader,
  repository: Repository,
  wanted: string,
  chosen: LayoutPatterns | null,
  known: PlannedPart[],
): Promise<PlannedPart[]> {
  const found = await findProjectParts(reader, repository, wanted, chosen)
  const paths = new Set(found.map(({ path }) => path))
  const former = known.filter(({ rest }) => !rest)
  const gone = former.filter(({ path }) => !paths.has(path)).map((part) => ({ ...part, gone: true as const }))
  const names = new Set(former.map(({ name }) => name))
  const nameOf = ({ path, name }: FoundPart) => former.find((part) => part.path === path)?.name ?? takeName(name, names)
  const projects = found.map((part): PlannedPart => ({ ...part, name: nameOf(part) }))
  const rest = known.find((part) => part.rest)?.name ?? takeName('unassigned', names)
  return [
    ...projects,
    ...gone,
    { name: rest, path: wanted, rest: true, layout: plainLayout(wanted), claim: { folders: [], patterns: [] } },
  ]
}

/** A name for a repository: `libs/parser` becomes `libs-parser`. */
function takeName(path: string, taken: Set<string>): string {
  const plain = (path.replaceAll('/', '-') || 'repository').slice(0, 100)
  let name = plain
  for (let next = 2; [...taken].some((one) => one.toLowerCase() === name.toLowerCase()); next++) name = `${plain}-${next}`
  taken.add(name)
  return name
}

type FoundPart = Pick<PlannedPart, 'name' | 'path' | 'layout' | 'claim'>

async function findProjectParts(
  reader: RepositoryReader,
  repository: Repository,
  wanted: string,
  chosen: LayoutPatterns | null,
): Promise<FoundPart[]> {
  if (chosen) return findByTemplate(reader, repository, wanted, chosen)
  const found = await findProjects(reader, repository, wanted, maxFolders)
  const [only] = found
  if (only?.path !== wanted || found.length > 1) return found.map(inOwnFolder)
  const { trunk, branches, tags } = only.layout
  if (trunk === wanted)
    throw new ImportFailure('No project was found: no folder has a trunk. Leave out --projects, or give --layout.')
  // One trunk: the projects are in it, and in each branch and tag.
  const below = (folder: string) => folder.slice(wanted === '' ? 0 : wanted.length + 1)
  const inEach = (folder: string) => `${below(folder)}/*/${projectName}`
  const template = { trunk: `${below(trunk)}/${projectName}`, branches: branches.map(inEach), tags: tags.map(inEach) }
  const parts = await findByTemplate(reader, repository, wanted, template)
  if (parts.length < 2) throw new ImportFailure('The trunk has no folders for several projects. Leave out --projects.')
  return parts
}

const inOwnFolder = ({ path, layout }: Project): FoundPart => ({
  name: path,
  path,
  layout,
  claim: { folders: [path], patterns: [] },
})

/** Projects by the folders of a layout with `{project}`, which exist in the newest revision. */
async function findByTemplate(
  reader: RepositoryReader,
  repository: Repository,
  wanted: string,
  template: LayoutPatterns,
): Promise<FoundPart[]> {
  const all = [template.trunk, ...template.branches, ...template.tags].map(namesIn)
  if (!all.every((names) => names.filter((name) => name === projectName).length === 1))
    throw new ImportFailure(
      `With --projects, each folder of --layout has the name ${projectName} once, as in trunk=${projectName}/main.`,
    )
  const trunk = namesIn(template.trunk)
  const place = trunk.indexOf(projectName)
  const names = await reader.listFolders(repository, joinPath(wanted, ...trunk.slice(0, place)))
  const parts: FoundPart[] = []
  for (const name of names) {
    if (!(await hasFolder(reader, repository, joinPath(wanted, ...trunk.slice(0, place), name), trunk.slice(place + 1)))) continue
    const named = (path: string) =>
      namesIn(path)
        .map((part) => (part === projectName ? name : part))
        .join('/')
    const { branches, tags } = template
    const layout = chosenLayout(wanted, { trunk: named(template.trunk), branches: branches.map(named), tags: tags.map(named) })
    parts.push({ name, ...describePart(layout, all, place, joinPath(wanted, ...trunk.slice(0, place), name)) })
  }
  if (parts.length === 0) throw new ImportFailure(`No project was found: there is no folder ${template.trunk}. Check --layout.`)
  return parts
}

async function hasFolder(
  reader: RepositoryReader,
  repository: Repository,
  path: string,
  [name, ...rest]: string[],
): Promise<boolean> {
  if (name === undefined) return true
  const names = await reader.listFolders(repository, path)
  return names.includes(name) && hasFolder(reader, repository, joinPath(path, name), rest)
}

/** If all folders of a project are in one, that one belongs to it; otherwise only the trunk, the branches and the tags do. */
function describePart(layout: Layout, template: string[][], place: number, folder: string): Omit<FoundPart, 'name'> {
  const [first = []] = template
  const prefix = first.slice(0, place + 1).join('/')
  const isOwn = template.every((names) => names.length > place + 1 && names.slice(0, place + 1).join('/') === prefix)
  if (isOwn) return { path: folder, layout, claim: { folders: [folder], patterns: [] } }
  const others = [...layout.branches, ...layout.tags]
  const claim = { folders: [layout.trunk, ...others.filter((path) => !isPattern(path))], patterns: others.filter(isPattern) }
  return { path: layout.trunk, layout, claim }
}

export function joinClaims(parts: PlannedPart[]): Claim {
  return { folders: parts.flatMap(({ claim }) => claim.folders), patterns: parts.flatMap(({ claim }) => claim.patterns) }
}

/** Whether a folder is one of those claimed, or below one. */
export function openClaim({ folders, patterns }: Claim): (path: string) => boolean {
  const parsed = parsePatterns(patterns)
  return (path) =>
    folders.some((folder) => path === folder || path.startsWith(`${folder}/`)) ||
    parsed.some((one) => one.match(path) !== undefined)
}
