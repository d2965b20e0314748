import CommandLineSupport

BenchOptions.tool.run { (arguments) throws(Failure) in
    try BenchCommand(options: BenchOptions(arguments)).run()
}
