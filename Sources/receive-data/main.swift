import CommandLineSupport

ReceiveOptions.tool.run { (arguments) throws(Failure) in
    var receiver = try Receiver(ReceiveOptions(arguments))
    return try receiver.run()
}
