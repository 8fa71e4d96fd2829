/** The model of timelines: what has happened, and who may see it. Small enough to be reviewed. */
export interface Repo {
  id: number
  owner: string
  name: string
  private: boolean
  parent: number | null
  network: number
  /** Its contents are copied by a job, which does not run here. */
  was_forked: boolean
  /** Its readers must be readers of its parent too. */
  forked_from_private: boolean
  collaborators: Map<string, number>
  /** Users who watch it (true) or ignore it (false). */
  minds: Map<string, boolean>
  stars: Set<string>
  releases: Set<number>
  has_commits: boolean
}

export interface Org {
  members: Map<string, 'admin' | 'member'>
  /** What every member may do everywhere. */
  access: number
  /** Its one team. */
  crew: { members: Set<string>; repos: Map<number, number> }
}

interface Happened {
  type: string
  actor: string
  repo: number
  public: boolean
  at: number
  /** The fork or release it is about. */
  about: number | undefined
}

export const pull = 1
export const push = 3
export const admin = 5

export class World {
  readonly people: string[]
  readonly suspended = new Set<string>()
  readonly orgs = new Map<string, Org>()
  readonly repos = new Map<number, Repo>()
  readonly follows = new Set<string>()
  readonly #log: Happened[] = []
  now = 0

  constructor(people: string[]) {
    this.people = people
  }

  happen(type: string, actor: string, repo: Repo, about?: number) {
    this.#log.push({ type, actor, repo: repo.id, public: !repo.private, at: this.now, about })
  }

  /** The highest access that a user has by ownership, membership, team or collaboration. A private fork needs its parent too. */
  accessByName(who: string, repo: Repo): number {
    const parent = this.repos.get(repo.parent ?? 0)
    return repo.forked_from_private && !(parent && this.access(who, parent) > 0) ? 0 : this.#accessHere(who, repo)
  }

  #accessHere(who: string, repo: Repo): number {
    const org = this.orgs.get(repo.owner)
    const role = org?.members.get(who)
    return Math.max(
      repo.owner === who ? admin : 0,
      role === 'admin' ? admin : role ? (org?.access ?? 0) : 0,
      org?.crew.members.has(who) ? (org.crew.repos.get(repo.id) ?? 0) : 0,
      repo.collaborators.get(who) ?? 0,
    )
  }

  access(who: string | null, repo: Repo): number {
    return Math.max(repo.private ? 0 : pull, who === null ? 0 : this.accessByName(who, repo))
  }

  /** A user who gets push access watches from then on, and one who loses access stops. A user who decided keeps the decision. */
  changingAccess(act: () => void, whom: (who: string, repo: Repo) => boolean = () => true) {
    const pairs = [...this.repos.values()].flatMap((repo) => this.people.map((who) => ({ who, repo })))
    const concerned = pairs.filter(({ who, repo }) => whom(who, repo))
    const watching = concerned.filter(({ who, repo }) => repo.minds.get(who) === true)
    const coming = concerned.filter(({ who, repo }) => !repo.minds.has(who) && this.access(who, repo) < push)
    act()
    for (const { who, repo } of watching) if (this.access(who, repo) === 0) repo.minds.delete(who)
    for (const { who, repo } of coming) if (this.access(who, repo) >= push) repo.minds.set(who, true)
  }

  create(actor: string, made: Pick<Repo, 'id' | 'owner' | 'name' | 'private'>, parent?: Repo): Repo {
    const repo: Repo = {
      ...made,
      parent: parent?.id ?? null,
      network: parent?.network ?? made.id,
      was_forked: parent !== undefined,
      forked_from_private: parent?.private ?? false,
      collaborators: new Map(),
      minds: new Map([[actor, true]]),
      stars: new Set(),
      releases: new Set(),
      has_commits: false,
    }
    this.repos.set(repo.id, repo)
    if (this.orgs.get(repo.owner)?.members.get(actor) === 'member') repo.collaborators.set(actor, admin)
    for (const who of this.people) if (this.access(who, repo) >= push && !repo.minds.has(who)) repo.minds.set(who, true)
    if (parent) this.happen('ForkEvent', actor, parent, repo.id)
    else this.happen('CreateEvent', actor, repo)
    return repo
  }

  setPrivate(actor: string, repo: Repo, hidden: boolean) {
    const published = repo.private && !hidden
    if (repo.private !== hidden) this.#detachForks(repo)
    this.changingAccess(() => {
      repo.private = hidden
    })
    if (published) this.happen('PublicEvent', actor, repo)
  }

  #forksOf(repo: Repo) {
    return [...this.repos.values()].filter(({ parent }) => parent === repo.id).sort((a, b) => a.id - b.id)
  }

  /** Public forks stay together below the oldest of them, and each private one stands alone. */
  #detachForks(repo: Repo) {
    const [heir, ...others] = this.#forksOf(repo).filter((fork) => !fork.private)
    for (const fork of others) fork.parent = heir?.id ?? null
    for (const fork of this.#forksOf(repo)) {
      Object.assign(fork, { parent: null, forked_from_private: false })
      this.#moveTo(fork, fork.id)
    }
  }

  #moveTo(repo: Repo, network: number) {
    repo.network = network
    for (const fork of this.#forksOf(repo)) this.#moveTo(fork, network)
  }

  transfer(repo: Repo, owner: string) {
    const former = repo.owner
    this.changingAccess(
      () => {
        repo.owner = owner
        for (const { crew } of this.orgs.values()) crew.repos.delete(repo.id)
        repo.collaborators.delete(owner)
        if (!this.orgs.has(former) && !repo.collaborators.has(former)) repo.collaborators.set(former, push)
      },
      (who, changed) =>
        changed === repo && (repo.minds.has(who) || who === owner || this.orgs.get(owner)?.members.has(who) === true),
    )
  }

  /** Forks live on: below what it was forked from, or below the oldest of them. Those of a private repository end with it. */
  delete(repo: Repo) {
    const forks = this.#forksOf(repo)
    if (repo.private && repo.parent === null) for (const fork of forks) this.delete(fork)
    const heir = repo.parent ?? forks[0]?.id ?? null
    for (const fork of forks) fork.parent = fork.id === heir ? null : heir
    this.repos.delete(repo.id)
    for (const { crew } of this.orgs.values()) crew.repos.delete(repo.id)
  }

  leave(org: Org, login: string, who: string) {
    this.changingAccess(() => {
      org.members.delete(who)
      org.crew.members.delete(who)
      for (const repo of this.repos.values()) if (repo.owner === login) repo.collaborators.delete(who)
    })
  }

  /** `viewer` is the user whose private events are shown; null: only public ones. */
  #isShown({ type, actor, repo: id, public: open, about }: Happened, viewer: string | null): boolean {
    const repo = this.repos.get(id)
    if (!repo || this.suspended.has(actor)) return false
    if (!(open && !repo.private) && !(viewer !== null && this.accessByName(viewer, repo) > 0)) return false
    if (type === 'ReleaseEvent') return repo.releases.has(about ?? 0)
    if (type !== 'ForkEvent') return true
    const fork = this.repos.get(about ?? 0)
    return fork !== undefined && (!fork.private || (viewer !== null && this.accessByName(viewer, fork) > 0))
  }

  #list(viewer: string | null, belongs: (event: Happened, repo: Repo) => boolean): string[] {
    const shown = this.#log.filter((event) => {
      const repo = this.repos.get(event.repo)
      return repo !== undefined && this.#isShown(event, viewer) && belongs(event, repo)
    })
    return shown.map((event) => this.#tell(event)).reverse()
  }

  #tell({ type, actor, repo: id, public: open, about }: Happened) {
    const repo = this.repos.get(id)
    return tell(type, actor, `${repo?.owner}/${repo?.name}`, open && !repo?.private, about, this.orgs.has(repo?.owner ?? ''))
  }

  /** What a timeline shows to a viewer, newest first; undefined when it is not there for them. */
  timeline(path: string, viewer: string | null, delay: number): string[] | undefined {
    const [kind = '', first = '', second = '', third = '', fourth = ''] = path.slice(1).split('/')
    if (kind === 'events') return this.#list(null, ({ at }) => at <= this.now - delay)
    if (kind === 'orgs') return this.#list(null, (_, { owner }) => owner === first)
    if (kind === 'repos' || kind === 'networks') {
      const named = [...this.repos.values()].find(({ owner, name }) => owner === first && name === second)
      if (!named || this.access(viewer, named) === 0) return undefined
      if (kind === 'repos') return this.#list(viewer, (_, repo) => repo === named)
      return this.#list(null, (_, { network }) => network === named.network)
    }
    const own = viewer === first && third !== 'public' ? viewer : null
    if (second === 'received_events') {
      const comes = ({ actor }: Happened, { minds }: Repo) => minds.get(first) === true || this.follows.has(`${first} ${actor}`)
      return this.#list(own, comes)
    }
    if (third !== 'orgs') return this.#list(own, ({ actor }) => actor === first)
    const member = this.orgs.get(fourth)?.members.has(first)
    return own && member ? this.#list(own, (_, { owner }) => owner === fourth) : undefined
  }
}

/** An event in a line. */
export function tell(type: string, actor: string, name: string, open: boolean, about: number | undefined, of_org: boolean) {
  return `${actor} ${type}${about ? ` of ${about}` : ''} in ${name}${of_org ? ' (org)' : ''}${open ? '' : ' privately'}`
}
