export type Kind =
  | ('push' | 'issue' | 'comment' | 'star' | 'mark' | 'revocation' | 'import' | 'conversion')
  | ('creation' | 'first push' | 'deletion' | 'rename' | 'moved push')
  | ('file' | 'remark' | 'edit' | 'removal' | 'hook' | 'hook deletion' | 'label')

/** A change that a client was told of. */
export interface Acknowledged {
  kind: Kind
  /** What was made: a commit, a title, a comment, a thread. */
  identity: string
  node: number
  /** When the response had arrived, in milliseconds since 1970. */
  at: number
  round: number
}

/** Everything that clients were told, and how often they were refused. */
export class Recorder {
  readonly acknowledged: Acknowledged[] = []
  /** Responses with 503 and `Retry-After`, and pushes that failed. */
  refused = 0
  /** Connections that ended, and requests that took too long. */
  unanswered = 0
  polls = 0
  /** Responses that no fault explains, such as a 500. */
  readonly unexpected: string[] = []
  /** What someone saw without access to it. */
  readonly exposed: string[] = []
  round = 0

  acknowledge(kind: Kind, identity: string, node: number) {
    this.acknowledged.push({ kind, identity, node, at: Date.now(), round: this.round })
  }

  of(kind: Kind) {
    return this.acknowledged.filter((entry) => entry.kind === kind)
  }

  /** How many of each kind were acknowledged in a round. */
  kindsOf(round: number) {
    const counts: Partial<Record<Kind, number>> = {}
    for (const entry of this.acknowledged) if (entry.round === round) counts[entry.kind] = (counts[entry.kind] ?? 0) + 1
    return counts
  }

  /** Counts a response that acknowledges nothing. */
  failed(what: string, status: number | undefined) {
    if (status === undefined) this.unanswered++
    else if (status === 503) this.refused++
    else this.unexpected.push(`${what}: ${status}`)
  }
}
