import type { Client } from './client.ts'
import type { Target, VariantName } from './target.ts'
import type { Workspace } from './workspace.ts'

/** What a check works with. */
export interface Context {
  target: Target
  /** The caller whose token was given. */
  me: Client
  /** A caller without credentials. */
  anonymous: Client
  /** The caller of `--other-token`; without it, the check is skipped. */
  other(): Client
  /** The caller of `--token` by Basic authentication with `--password`; without it, the check is skipped. */
  withPassword(): Client
  workspace: Workspace
}

/** One statement of the specification as a test against a server. */
export interface Check {
  /** Stable: reports of different times and servers are compared by it. */
  id: string
  part: string
  /** Method and path as the specification writes them, such as `GET /notifications`. */
  operation: string
  /** The sentences, or cells of a table, of the specification that it proves, in their own words. */
  proves: string[]
  /** It changes what other checks see, such as the whole inbox, so it runs alone. */
  alone: boolean
  /** The variant that the statement is about; both unless given. */
  variant: VariantName | undefined
  /** It takes minutes, so it runs only if it is asked for. */
  slow: boolean
  run(context: Context): Promise<unknown>
}

interface Options {
  alone?: boolean
  variant?: VariantName
  slow?: boolean
}

type Run = (context: Context) => Promise<unknown>

/** Declares the checks of a part. */
export class Part {
  readonly title: string
  readonly checks: Check[] = []

  constructor(title: string) {
    this.title = title
  }

  check(id: string, operation: string, proves: string[], run: Run, { alone = false, variant, slow = false }: Options = {}) {
    this.checks.push({ id, part: this.title, operation, proves, alone, variant, slow, run })
  }
}
