import { resolve } from 'node:path'
import { isRefName, isReserved } from '#git/ref-names.ts'
import { type Kind, kinds, type LayoutPatterns } from '#importer/source.ts'
import type { EditOptions } from '#importer/steps.ts'
import { trimBoth } from '#platform/trim.ts'
import { readArguments, UsageError } from './command.ts'

export const help = `Converts a repository to git, without a server. Run it again to resume, or to bring what is new in the source.

Usage: npx belfry convert SOURCE OUT.git [options]
       npx belfry convert SOURCE FOLDER --projects [options]

SOURCE is an address (svn://, http://, https://), a folder with a Subversion, Mercurial or git repository, or a file that svnadmin dump has
written, also compressed with gzip or zstd. OUT.git becomes a bare repository. Checkpoints are in OUT.git/belfry-convert. A later run uses the
options of the last one that have to do with the history, and refuses others.

Source:
  --kind KIND             subversion, mercurial, tfvc or git, if it cannot be detected
  --project NAME          the folder of a Subversion project, or a TFVC project
  --layout KEY=FOLDER     where Subversion's trunk, branches or tags are, such as trunk=main or branches=users/*; may be repeated.
                          What is not given is trunk, branches and tags; with "trunk=" the whole project is one branch
  --projects              convert each project of a Subversion repository into FOLDER/<project>.git, and what belongs to none of them into
                          FOLDER/unassigned.git. Projects are the folders that have a trunk or, if there is one trunk, the folders in it.
                          In --layout, {project} is the name of a project: trunk=trunk/{project}, branches=branches/*/{project}
  --keep-deleted          keep deleted branches and tags of Subversion as tags deleted/<name>@<revision>, and closed branches of Mercurial
  --username NAME         the password is read from the variable BELFRY_SOURCE_PASSWORD; BELFRY_CA may name a file of CA certificates

Authors:
  --authors FILE          lines "login = Name <email>", as for git svn
  --authors-missing       print a line for each author without an entry, and stop before the long work; the exit code is 1 if there are any

History:
  --include PATTERN       keep only these files; * matches within a name, ** across folders; may be repeated
  --exclude PATTERN       leave these files out; may be repeated
  --since REVISION|DATE   leave out older commits, such as 1200 or 2019-01-01
  --lfs SIZE              store files that were ever larger with git LFS, such as 100MB
  --svn-ignore            make .gitignore files of svn:ignore properties
  --gitattributes         make .gitattributes files of svn:eol-style, svn:mime-type and the keyword Id
  --metadata              add a git-svn-id (or git-tfs-id) line to each commit
  --default-branch NAME   the branch for Subversion's trunk and Mercurial's default [main]

Run:
  --dry-run               print what would become a branch or a tag, and what would be left out
  --verify sample|full    how many revisions are compared with the source [sample]
  --rewrite               use exactly these options, although the last run had others; commits may get other ids
  --final                 delete the checkpoints at the end; no later run can bring what is new
  --json                  print the report as JSON

The exit code is 0 if everything was converted and compared, 1 if anything failed or differs, and 2 for wrong options.`

/** The options that decide which commits, branches and tags are made. */
const ofHistory = [
  'project',
  'projects',
  'layout',
  'keep-deleted',
  'authors',
  'include',
  'exclude',
  'since',
  'lfs',
  'svn-ignore',
  'gitattributes',
  'metadata',
  'default-branch',
] as const

export interface Options {
  source: string
  target: string
  kind: Kind | null
  project: string | null
  projects: boolean
  username: string | null
  password: string | null
  authors: string | null
  authors_missing: boolean
  edits: Omit<EditOptions, 'source_id'>
  /** Whether commits name their revision. */
  metadata: boolean
  use_lfs: 'opt_in' | 'keep'
  large_over: number | null
  svn_ignore: boolean
  gitattributes: boolean
  layout: LayoutPatterns | null
  keep_deleted: boolean
  default_branch: string
  /** Those of these options that are given, by name. */
  history: Record<string, string | string[] | true>
  rewrite: boolean
  dry_run: boolean
  verify_all: boolean
  final: boolean
  /** A file of CA certificates. */
  authorities: string | null
  json: boolean
}

const text = { type: 'string' } as const
const texts = { type: 'string', multiple: true } as const
const flag = { type: 'boolean', default: false } as const

const wrong = (message: string) => new UsageError(message, 'convert')

export function readOptions(given: string[], environment: NodeJS.ProcessEnv): Options {
  const { values, positionals } = readArguments('convert', given, {
    kind: text,
    project: text,
    projects: flag,
    layout: texts,
    'keep-deleted': flag,
    username: text,
    authors: text,
    'authors-missing': flag,
    include: texts,
    exclude: texts,
    since: text,
    lfs: text,
    'svn-ignore': flag,
    gitattributes: flag,
    metadata: flag,
    'default-branch': text,
    rewrite: flag,
    'dry-run': flag,
    verify: { type: 'string', default: 'sample' },
    final: flag,
    json: flag,
  })
  const [named, target, ...others] = positionals
  const missing = values['authors-missing']
  if (named === undefined || (target === undefined && !missing)) throw wrong('SOURCE and OUT.git are needed')
  if (others.length > 0) throw wrong(`"${others[0]}" is one name too many`)
  const { source, username } = readSource(named)
  const since = values.since === undefined ? null : readSince(values.since)
  const { include = [], exclude = [], kind, lfs } = values
  if (kind !== undefined && !isKind(kind)) throw wrong(`--kind must be one of ${kinds.join(', ')}`)
  if (values.verify !== 'sample' && values.verify !== 'full') throw wrong('--verify must be sample or full')
  const authors = values.authors === undefined ? null : resolve(values.authors)
  const { 'default-branch': default_branch = 'main' } = values
  const ref = `refs/heads/${default_branch}`
  if (!isRefName(ref) || isReserved(ref) || default_branch.startsWith('-'))
    throw wrong(`--default-branch: git accepts no branch named "${default_branch}"`)
  return {
    source,
    target: resolve(target ?? '.'),
    kind: kind ?? null,
    project: values.project ?? null,
    projects: values.projects,
    username: values.username ?? username,
    password: environment.BELFRY_SOURCE_PASSWORD ?? null,
    authors,
    authors_missing: missing,
    edits: { include, exclude, since },
    metadata: values.metadata,
    use_lfs: lfs === undefined ? 'keep' : 'opt_in',
    large_over: lfs === undefined ? null : readSize(lfs),
    svn_ignore: values['svn-ignore'],
    gitattributes: values.gitattributes,
    layout: values.layout ? readLayout(values.layout, values.projects) : null,
    keep_deleted: values['keep-deleted'],
    default_branch,
    history: Object.fromEntries(
      ofHistory.flatMap((name) => {
        const value = name === 'authors' ? authors : values[name]
        return value ? [[name, value]] : []
      }),
    ),
    rewrite: values.rewrite,
    dry_run: values['dry-run'],
    verify_all: values.verify === 'full',
    final: values.final,
    authorities: environment.BELFRY_CA ?? null,
    json: values.json,
  }
}

const isKind = (name: string): name is Kind => (kinds as readonly string[]).includes(name)

/** Other users of the machine can read the arguments of a process, so a password in the address is refused. */
function readSource(named: string): { source: string; username: string | null } {
  const url = /^(svn|https?):\/\//i.test(named) ? URL.parse(named) : undefined
  if (url === null) throw wrong(`"${named}" is not an address`)
  if (!url) return { source: named, username: null }
  if (url.password) throw wrong('the address has a password, which other users can see: use the variable BELFRY_SOURCE_PASSWORD')
  const username = url.username === '' ? null : decodeURIComponent(url.username)
  return { source: username === null ? named : named.replace(/^([a-z]+:\/\/)[^/@]*@/i, '$1'), username }
}

function readLayout(given: string[], ofProjects: boolean): LayoutPatterns {
  const layout: LayoutPatterns = { trunk: ofProjects ? '{project}/trunk' : 'trunk', branches: [], tags: [] }
  for (const each of given) {
    const [, key, folder = ''] = /^(trunk|branches|tags)=(.*)$/.exec(each) ?? []
    const path = trimBoth(folder, '/')
    if (key === 'trunk') layout.trunk = path
    else if ((key === 'branches' || key === 'tags') && path !== '') layout[key].push(path)
    else throw wrong('--layout must be trunk=FOLDER, branches=FOLDER or tags=FOLDER')
  }
  if (ofProjects) return layout
  // In a project without a trunk, folders of these names are as likely to be files of the project.
  const isWhole = layout.trunk === ''
  const standard = (key: 'branches' | 'tags') => (layout[key].length > 0 || isWhole ? layout[key] : [key])
  return { ...layout, branches: standard('branches'), tags: standard('tags') }
}

function readSince(given: string): EditOptions['since'] {
  const [, revision] = /^r?(\d+)$/.exec(given) ?? []
  if (revision !== undefined) return { revision: Number(revision) }
  const time = Date.parse(given)
  if (Number.isNaN(time)) throw wrong('--since must be a revision such as 1200, or a date such as 2019-01-01')
  return { time: Math.floor(time / 1000) }
}

const units: Record<string, number> = { '': 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30 }

function readSize(given: string): number {
  const [, number, unit = ''] = /^(\d+)\s*([kmg]?)i?b?$/i.exec(given) ?? []
  if (number === undefined) throw wrong('--lfs must be a size such as 100MB')
  return Number(number) * (units[unit.toUpperCase()] ?? 1)
}
