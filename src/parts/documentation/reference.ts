import type { Endpoint, Group } from '#http/endpoint.ts'
import { plainPath } from '#http/endpoint.ts'
import { selfHosted, type Variant, versioned } from '#variants.ts'

/** The groups of the reference in the order of its navigation. Groups that are not listed come last. */
const sections: [title: string, groups: string][] = [
  [
    'People and organizations',
    'People; E-mail addresses; Keys; Organizations; Organization invitations; Outside collaborators; Teams; Team members',
  ],
  ['Repositories', 'Repositories; Topics; Collaborators; Repository transfers; Statistics; Source imports'],
  [
    'Files and git',
    'Contents; Commits; Commit comments; Comparisons; Merges; Git references; Git database; Archives; Branch protection; Branch protection lists',
  ],
  ['Releases and checks', 'Releases; Release assets; Commit statuses; Check runs; Check suites; Deployments; Automation'],
  ['Issues', 'Issues; Your issues; Issue comments; Issue events; Labels; Milestones; Reactions'],
  ['Pull requests', 'Pull requests; Reviews; Review comments; Review requests'],
  ['Activity', 'Event timelines; Feeds; Notifications; Starring; Watching'],
  ['Webhooks', 'Webhooks; Webhook deliveries; Webhook replays; Webhook streams; Webhook diagnosis'],
  ['Apps and access', 'Authorizations; OAuth applications; Apps; App installations; Installed apps; App webhooks'],
  ['Search and texts', 'Search; Markdown; Templates'],
  ['This server', 'Meta; Administration; Maintenance; Lists that are always empty'],
]

export interface ReferenceGroup {
  slug: string
  title: string
  entries: Entry[]
}

/** An operation of the reference. */
export interface Entry {
  endpoint: Endpoint
  /** The path without marks of the router. */
  path: string
  /** The slug of its group. */
  group: string
  /** Where it is served: the self-hosted API, unless only the versioned one has it. */
  variant: Variant
}

export interface Section {
  title: string
  groups: ReferenceGroup[]
}

/** All operations, found by group, by id and by words. It refers to the declarations and copies nothing of them. */
export class Reference {
  readonly sections: Section[]
  readonly #groups = new Map<string, ReferenceGroup>()
  readonly #entries = new Map<string, Entry>()

  constructor(groups: Group[]) {
    for (const { title, endpoints } of groups) this.#add(title, endpoints)
    const listed = sections.map(([title, names]) => ({
      title,
      groups: names.split('; ').flatMap((name) => this.#groups.get(slugOf(name)) ?? []),
    }))
    const known = new Set(listed.flatMap((section) => section.groups))
    const others = [...this.#groups.values()].filter((group) => !known.has(group))
    this.sections = [...listed, { title: 'More', groups: others }].filter((section) => section.groups.length)
  }

  #add(title: string, endpoints: Endpoint[]) {
    const slug = slugOf(title)
    const group = this.#groups.get(slug) ?? { slug, title, entries: [] }
    this.#groups.set(slug, group)
    for (const endpoint of endpoints) {
      const variant = endpoint.served?.(selfHosted) === false ? versioned : selfHosted
      const entry = { endpoint, path: plainPath(endpoint.path), group: slug, variant }
      group.entries.push(entry)
      this.#entries.set(endpoint.operation, entry)
    }
  }

  get count() {
    return this.#entries.size
  }

  group(slug: string): ReferenceGroup | undefined {
    return this.#groups.get(slug)
  }

  entry(operation: string): Entry | undefined {
    return this.#entries.get(operation)
  }

  /** The operations that have all words in their method, path, id, summary or group. Those with the words in the summary come first. */
  search(text: string): Entry[] {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean).slice(0, mostWords)
    if (!words.length) return []
    const has = (text: string) => words.every((word) => text.includes(word))
    const found = [...this.#entries.values()].filter((entry) => has(this.#textOf(entry)))
    const [first, rest] = [true, false].map((best) => found.filter((entry) => has(entry.endpoint.summary.toLowerCase()) === best))
    return [...(first ?? []), ...(rest ?? [])]
  }

  #textOf({ endpoint: { method, operation, summary }, path, group }: Entry) {
    return `${method} ${path} ${operation} ${summary} ${this.#groups.get(group)?.title}`.toLowerCase()
  }
}

/** Words of a search that count. */
const mostWords = 10

const slugOf = (title: string) =>
  title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')

/** The address of an operation in the reference. */
export const addressOf = ({ group, endpoint: { operation } }: Entry) => `/docs/${group}#${operation}`

/** The names in the path, in order. */
export const pathNames = ({ path }: Pick<Entry, 'path'>) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
