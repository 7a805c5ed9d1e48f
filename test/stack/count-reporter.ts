import { writeSync } from 'node:fs';
import type { Reporter, TestModule, TestRunEndReason } from 'vitest/node';

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

function countModule(module: TestModule, counts: Counts): void {
  const failedBefore = counts.failed;
  for (const test of module.children.allTests()) {
    const { state } = test.result();
    if (state === 'passed') counts.passed++;
    else if (state === 'failed') counts.failed++;
    else counts.skipped++;
  }
  // A file that could not be loaded, or whose hooks failed, has failed although none of its tests has.
  if (module.state() === 'failed' && counts.failed === failedBefore) counts.failed++;
}

/**
 * Closes the run with one plain line for machines: `N passed, N failed`, with `, N skipped` when there are any. It is
 * written as the process ends, so that nothing comes after it; a failure outside any test counts as one that failed.
 */
export default class CountReporter implements Reporter {
  #line: string | undefined;

  constructor() {
    process.once('exit', () => {
      if (this.#line !== undefined) writeSync(1, `${this.#line}\n`);
    });
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[], reason: TestRunEndReason): void {
    const counts: Counts = { passed: 0, failed: errors.length, skipped: 0 };
    for (const module of modules) countModule(module, counts);
    // A run that never came to its tests (a service could not be had) has failed too.
    if (reason === 'failed' && counts.failed === 0) counts.failed = 1;
    const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
    this.#line = `${counts.passed} passed, ${counts.failed} failed${skipped}`;
  }
}
