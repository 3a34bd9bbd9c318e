import { Workbench } from '#components/shell/workbench';

export default function WorkbenchPage() {
  return <Workbench />;
}
