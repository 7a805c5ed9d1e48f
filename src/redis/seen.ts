/** The highest checkpoint of each partition that this process has seen Redis acknowledge. */
export class Seen {
  private readonly highest: ({ readonly incarnation: number; readonly position: number } | undefined)[] = [];

  note(partition: number, incarnation: number, position: number): void {
    const before = this.of(partition);
    const later =
      incarnation > before.incarnation || (incarnation === before.incarnation && position > before.position);
    if (later) this.highest[partition] = { incarnation, position };
  }

  of(partition: number): { readonly incarnation: number; readonly position: number } {
    return this.highest[partition] ?? { incarnation: 0, position: 0 };
  }
}
