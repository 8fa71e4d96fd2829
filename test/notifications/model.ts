import type { Repo, World } from '#test/activity/model.ts'

/** The model of inboxes, by the specification: one user and one act at a time. Small enough to be reviewed. */
type Reason = (typeof precedence)[number]

const precedence = [
  'mention',
  'review_requested',
  'assign',
  'team_mention',
  'author',
  'state_change',
  'comment',
  'invitation',
  'manual',
  'subscribed',
] as const

const strongest = (reasons: Reason[]) => precedence.find((reason) => reasons.includes(reason))

/** Whether an act notifies everyone, the reason its actor participates from then on, and the reason of the users it concerns. */
const kinds = {
  opened: { everyone: true, joins: 'author', concerns: 'assign' },
  commented: { everyone: true, joins: 'comment', concerns: undefined },
  reviewed: { everyone: true, joins: 'comment', concerns: undefined },
  closed: { everyone: true, joins: 'state_change', concerns: undefined },
  reopened: { everyone: true, joins: 'state_change', concerns: undefined },
  merged: { everyone: true, joins: 'state_change', concerns: undefined },
  pushed: { everyone: true, joins: undefined, concerns: undefined },
  published: { everyone: true, joins: 'author', concerns: undefined },
  assigned: { everyone: false, joins: undefined, concerns: 'assign' },
  review_requested: { everyone: false, joins: undefined, concerns: 'review_requested' },
  invited: { everyone: false, joins: undefined, concerns: 'subscribed' },
  accepted: { everyone: false, joins: undefined, concerns: 'invitation' },
  edited: { everyone: false, joins: undefined, concerns: undefined },
} as const

export interface Happening {
  act: keyof typeof kinds
  /** Users whom it concerns, directly or through a team. */
  people?: Iterable<string>
  team_people?: Iterable<string>
  /** Users and members of teams whom a text mentions newly. */
  mentioned?: Iterable<string>
  team_mentioned?: Iterable<string>
}

export interface Thread {
  reason: Reason
  unread: boolean
  done: boolean
  updated_at: number
  last_read_at: number | null
  /** The turn of the last notification. */
  told: number
  history: string[]
}

interface Mind {
  state: 'subscribed' | 'muted' | 'ignored'
  reason: Reason
}

/** The subject of threads. */
export interface Topic {
  readonly repo: Repo
  /** An issue may become a pull request. */
  type: 'Issue' | 'PullRequest' | 'Release' | 'RepositoryInvitation'
  /** Its number or id, the end of its address. */
  readonly number: number
  readonly title: string
  state: string | null
  /** The latest comment or review, unless it was deleted. */
  latest: { type: 'comment' | 'review'; id: number } | null
  /** The invited user while the invitation is open. */
  invitee: string | null
  gone: boolean
  readonly minds: Map<string, Mind>
  readonly threads: Map<string, Thread>
}

export class Inboxes {
  readonly world: World
  readonly topics: Topic[] = []
  /** Milliseconds of the clock. */
  now = 0
  turn = 0
  /** The turn in which a user last read a list that was not empty. */
  readonly #listed = new Map<string, number>()

  constructor(world: World) {
    this.world = world
  }

  begin(repo: Repo, type: Topic['type'], number: number, title: string): Topic {
    const state = type === 'Issue' || type === 'PullRequest' ? 'open' : null
    const own = { latest: null, invitee: null, gone: false, minds: new Map(), threads: new Map() }
    const topic: Topic = { repo, type, number, title, state, ...own }
    this.topics.push(topic)
    return topic
  }

  /** Applies an act and returns the users who were or could have been notified. */
  happen(
    topic: Topic,
    actor: string,
    { act, people = [], team_people = [], mentioned = [], team_mentioned = [] }: Happening,
  ): string[] {
    const { everyone, joins, concerns } = kinds[act]
    const [concerned, named, teamed] = [[...people, ...team_people], [...mentioned], [...team_mentioned]]
    this.#join(topic, actor, [...(joins ? [joins] : []), ...(concerns && [...people].includes(actor) ? [concerns] : [])])
    if (act === 'accepted') return this.#acceptOwn(topic, actor)
    const told = this.world.people.filter((who) => {
      const causes: Reason[] = [
        ...(named.includes(who) ? (['mention'] as const) : []),
        ...(teamed.includes(who) ? (['team_mention'] as const) : []),
        ...(concerns && concerned.includes(who) ? [concerns] : []),
      ]
      const reason =
        who === actor || !this.isShown(who, topic) ? undefined : this.#reasonFor(topic, who, strongest(causes), everyone)
      if (reason) this.#notify(topic, who, reason, `${reason}: ${actor} ${act}`)
      return reason
    })
    return [actor, ...told, ...concerned, ...named]
  }

  /** Accepting an invitation changes the reason and does not notify. */
  #acceptOwn(topic: Topic, who: string): string[] {
    const [had, mind] = [topic.threads.get(who), topic.minds.get(who)]
    if (!had || !mind) return [who]
    mind.reason = 'invitation'
    this.#notify(topic, who, 'invitation', `invitation: ${who} accepted`)
    const { unread, done } = had
    Object.assign(topic.threads.get(who) ?? had, { unread, done })
    return [who]
  }

  /** Commenting subscribes a user who had left. */
  #join(topic: Topic, who: string, reasons: Reason[]) {
    const mind = topic.minds.get(who)
    const reason = strongest([...reasons, ...(mind && reasons.length ? [mind.reason] : [])])
    if (!reason) return
    const back = !mind || reasons.includes('comment')
    topic.minds.set(who, { state: back ? 'subscribed' : mind.state, reason })
  }

  /** The reason to notify a user of an act, if any. */
  #reasonFor(topic: Topic, who: string, cause: Reason | undefined, everyone: boolean): Reason | undefined {
    const mind = topic.minds.get(who)
    const watches = topic.repo.minds.get(who)
    if (watches === false) return undefined
    if (mind?.state === 'ignored' && cause !== 'mention') return undefined
    if (cause) {
      if (mind?.state === 'muted' && cause !== 'mention' && !watches) return undefined
      topic.minds.set(who, { state: mind && cause !== 'mention' ? mind.state : 'subscribed', reason: cause })
      return cause
    }
    if (!everyone) return undefined
    if (mind?.state === 'subscribed') return mind.reason
    return watches ? 'subscribed' : undefined
  }

  #notify(topic: Topic, who: string, reason: Reason, line: string) {
    const had = topic.threads.get(who)
    topic.threads.set(who, {
      reason: had && reason === 'subscribed' ? had.reason : reason,
      unread: true,
      done: false,
      updated_at: this.now,
      last_read_at: had?.last_read_at ?? null,
      told: this.turn,
      history: [line, ...(had?.history ?? [])].slice(0, 100),
    })
  }

  isShown(who: string, { repo, invitee, gone }: Topic): boolean {
    return !gone && (invitee === who || this.world.access(who, repo) > 0)
  }

  /** Newest first; threads of the same time in any order. */
  threadsOf(who: string): { topic: Topic; thread: Thread }[] {
    const shown = this.topics.flatMap((topic) => {
      const thread = topic.threads.get(who)
      return thread && this.isShown(who, topic) ? { topic, thread } : []
    })
    return shown.sort((a, b) => b.thread.updated_at - a.thread.updated_at)
  }

  noteListed(who: string) {
    this.#listed.set(who, this.turn)
  }

  /** A time in whole seconds includes the threads of that second that the last list showed. */
  markAll(who: string, moment: number, repo?: Repo) {
    for (const topic of this.topics) {
      const thread = topic.threads.get(who)
      if (!thread?.unread || (repo && topic.repo !== repo)) continue
      const { updated_at, told } = thread
      const meant = Math.floor(updated_at / 1000) * 1000 === moment && (this.#listed.get(who) ?? -1) >= told
      if (updated_at <= moment || meant) this.#read(thread, Math.min(moment, this.now))
    }
  }

  mark(thread: Thread, change: 'read' | 'done') {
    if (change === 'read' ? !thread.unread : thread.done) return
    this.#read(thread, this.now)
    thread.done = change === 'done'
  }

  #read(thread: Thread, moment: number) {
    thread.unread = false
    thread.last_read_at = Math.max(thread.last_read_at ?? 0, moment)
  }

  setMind(topic: Topic, who: string, state: Mind['state']) {
    const mind = topic.minds.get(who)
    // A user who never participated cannot leave.
    if (mind || state !== 'muted') topic.minds.set(who, { state, reason: mind?.reason ?? 'manual' })
  }
}
